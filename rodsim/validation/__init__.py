"""Compare published and exact numbers with the results of this program, in one table: `rodsim validate`."""
