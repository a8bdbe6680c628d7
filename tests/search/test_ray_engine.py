"""Encoding on a real Ray cluster of two nodes on this machine, one of which is killed half-way."""

from __future__ import annotations

import os

import pytest

from gra2seq.errors import UserError
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file
from gra2seq.search.ray_engine import RayEngine
from gra2seq.system import ray_pool
from gra2seq.system.ray_pool import check_usable

BLOCK = 16


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch):
    """Ray gives its workers the lowest priority and a node 30 seconds to start: too little where other tests run."""
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")


def test_missing_ray_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(ray_pool, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"gra2seq\[ray\]"):
        check_usable(None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_killed_node_loses_and_doubles_nothing(store, codes, tiny_run, tmp_path, contents):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'gra2seq[ray]'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        nodes = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        assert len(nodes) == 2
        seen = []

        def kill_half_way(done, total):
            seen.append(done)
            if done >= total // 2 and len(cluster.list_all_nodes()) == 2:
                cluster.remove_node(second, allow_graceful=False)

        out = tmp_path / "codes.npy"
        made = encode_to_file(
            [store],
            out,
            model=tiny_run,
            layout=Layout(block=BLOCK),
            engine=RayEngine(tiny_run),
            progress=kill_half_way,
        )
        assert len(cluster.list_all_nodes()) == 1
        assert made.new == made.header.rows == seen[-1]
        assert contents(out) == contents(codes)
        assert sorted(os.listdir(tmp_path)) == ["codes.json", "codes.keys", "codes.npy"]
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_local_cluster_makes_the_same_bytes_as_this_process(store, codes, tiny_run, tmp_path, contents):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'gra2seq[ray]'")
    layout, out = Layout(block=BLOCK), tmp_path / "codes.npy"
    encode_to_file([store], out, model=tiny_run, layout=layout, engine=RayEngine(tiny_run, jobs=2))
    assert contents(out) == contents(codes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_killed_actor_is_replaced(store, codes, tiny_run, tmp_path, contents, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'gra2seq[ray]'")
    actors, start = [], ray_pool.RayPool._start

    def recorded_start(pool, arguments):
        start(pool, arguments)
        actors.append(list(pool.pending.values())[-1][0])

    def kill_first(done, _total):
        if done and len(actors) == 2:
            ray.kill(actors[0])

    monkeypatch.setattr(ray_pool.RayPool, "_start", recorded_start)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        out = tmp_path / "codes.npy"
        layout, engine = Layout(block=BLOCK), RayEngine(tiny_run, jobs=2)
        encode_to_file([store], out, model=tiny_run, layout=layout, engine=engine, progress=kill_first)
        assert len(actors) == 3
        assert contents(out) == contents(codes)
    finally:
        ray.shutdown()


def test_local_engine_is_the_reference(store, codes, tiny_run, tmp_path, contents):
    """What the others are compared with does not depend on who asks."""
    out = tmp_path / "codes.npy"
    encode_to_file([store], out, model=tiny_run, layout=Layout(block=BLOCK), engine=LocalEngine(tiny_run, jobs=1))
    assert contents(out) == contents(codes)
