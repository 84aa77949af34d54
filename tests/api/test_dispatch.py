"""What a study does where workers go: without a cluster, by a client that tells what Dask would."""

import time

import pytest

from rodsim.studies import cluster, dispatch
from rodsim.studies.bases import FunctionBase
from rodsim.studies.cases import Case, Recipe
from rodsim.studies.dispatch import SchedulerLost, _Dispatch


class Future:
    """Of a case that was sent; pending."""

    def __init__(self, number):
        self.key, self.status = f"key{number}", "pending"

    def add_done_callback(self, callback):
        pass


class Client:
    """A scheduler with these workers, and what each has taken."""

    def __init__(self, workers):
        self.workers, self.taken, self.sent, self.status = list(workers), {}, [], "running"

    def submit(self, *_, **__):
        self.sent.append(Future(len(self.sent)))
        return self.sent[-1]

    def wait_for_workers(self, count, timeout):
        pass

    def run(self, function, on_error):
        return {worker: cluster.Place("", "here", self.cache) for worker in self.workers}

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def processing(self):
        return {worker: tuple(self.taken.get(worker, ())) for worker in self.workers}


@pytest.fixture
def under_way():
    """A study of three cases whose first is sent to the worker `a`: client, dispatch, what is told."""
    client, told = Client(["a", "b"]), []
    cases = [Case(k, f"k{k}", "one structure", {"x": k}) for k in range(3)]
    recipe = Recipe(FunctionBase(lambda x: {"y": 1.0}, {}), {}, "")
    found = _Dispatch(client, recipe, cases, None, frozenset(), told.append, own=True)
    found._caches = [["a", "b"]]
    found._send()
    return client, found, told


@pytest.mark.parametrize(("folder", "groups"), [("/cache", [["a", "b"]]), ("", [["a"], ["b"]])])
def test_workers_share_a_cache_of_compiled_code_if_there_is_one(under_way, folder, groups):
    client, found, _ = under_way
    client.cache = folder
    assert found._places() == groups


def test_a_first_case_that_runs_elsewhere_is_left_there(under_way):
    client, found, _ = under_way
    client.workers, client.taken = ["b"], {"b": ["key0"]}
    found._look()
    assert len(client.sent) == 1
    client.taken = {}  # it is over, and its end is on the way
    client.sent[0].status = "finished"
    found._look()
    assert len(client.sent) == 1


def test_where_nothing_ends_a_line_says_so_and_then_after_twice_the_time(under_way, monkeypatch):
    client, found, told = under_way
    found._look()
    assert not told
    found._last = time.monotonic() - 1.1 * dispatch.QUIET
    found._look()
    found._look()
    assert len(told) == 1
    assert "1 under way on 2 workers" in told[0]
    found._last = time.monotonic() - 2.2 * dispatch.QUIET
    client.workers = []
    found._look()
    assert "there are no workers" in told[1]


@pytest.mark.parametrize("own", [True, False])
def test_a_cluster_of_our_own_that_starts_no_workers_is_made_anew_and_others_are_waited_for(under_way, own):
    client, found, _ = under_way
    client.workers, found._own = [], own
    found._manned = time.monotonic() - 0.5 * cluster.PATIENCE
    found._look()
    found._manned = time.monotonic() - 1.1 * cluster.PATIENCE
    if own:
        with pytest.raises(SchedulerLost):
            found._look()
    else:
        found._look()
