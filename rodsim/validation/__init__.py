"""`rodsim validate`: published and exact numbers beside what this program finds for them, as one table."""
