"""Nobody but the run's own user can make the workers do something."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
from pathlib import Path

import psutil
import pytest
from distributed import Client
from distributed.security import Security

from learned_context.errors import UserError
from pipeline.execution import cluster
from tests.execution.conftest import new_project, project  # noqa: F401
from tests.execution.small_project import ENVIRONMENT, Project
from tests.execution.test_interruptions import external_cluster
from tests.execution.test_run import wait_for


def test_a_local_run_listens_on_no_port(project: Project) -> None:  # noqa: F811
    project.write("hold", "")
    running = project.start("run", "--jobs", "2", "prepare")
    try:
        wait_for(project.root / "scratch" / "progress" / "prepare.txt")
        client = psutil.Process(running.pid)
        processes = [client, *client.children(recursive=True)]
        assert len(processes) > 1, "the command does not run"
        assert [one.net_connections() for one in processes] == [[] for _ in processes]
    finally:
        (project.root / "hold").unlink()
        report, _ = running.communicate(timeout=60)
    assert running.returncode == 0, report


def tls_environment(folder: Path) -> dict[str, str]:
    """A certificate in files, and the variables with which the README names it to Dask."""
    security = Security.temporary()
    certificate, key = folder / "cert.pem", folder / "key.pem"
    certificate.write_text(str(security.tls_client_cert))
    key.write_text(str(security.tls_client_key))
    prefix = "DASK_DISTRIBUTED__COMM__TLS"
    names = {f"{prefix}__CA_FILE": str(certificate)}
    for side in ("SCHEDULER", "WORKER", "CLIENT"):
        names |= {f"{prefix}__{side}__CERT": str(certificate), f"{prefix}__{side}__KEY": str(key)}
    return {**ENVIRONMENT, **names, "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}


def test_with_tls_only_a_holder_of_the_certificate_can_use_a_cluster(
    project: Project,  # noqa: F811
    tmp_path: Path,
) -> None:
    environment = tls_environment(tmp_path)
    with external_cluster(project, environment, "tls") as (address, _):
        command = [*project.command(), "run", "--scheduler", address, "prepare"]
        done = subprocess.run(
            command, cwd=project.root, env=environment, text=True, capture_output=True, timeout=120
        )
        assert done.returncode == 0 and "1 stages run" in done.stdout, done.stdout + done.stderr
        assert "warning" not in done.stderr
        host, port = address.removeprefix("tls://").split(":")
        with pytest.raises(OSError):  # nothing is asked of a client that speaks no TLS
            Client(f"tcp://{host}:{port}", timeout=3)
        anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection((host, int(port)), timeout=10) as plain,
            pytest.raises(ssl.SSLError, match=r"(?i)certificate required"),
            anyone.wrap_socket(plain) as stranger,
        ):
            while stranger.recv(1):
                pass
        assert "no certificate is configured for this client" in project.call(
            "run", "--scheduler", address, code=2
        )


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://192.0.2.1:8786", "without TLS, anyone who can reach this port"),
        ("192.0.2.1:8786", "without TLS, anyone who can reach this port"),
        ("tcp://0.0.0.0:1", "without TLS, anyone who can reach this port"),
        ("ws://192.0.2.1:1", "not an address of the form tls://HOST:PORT"),
        ("inproc://a", "not an address of the form tls://HOST:PORT"),
        ("tcp://", "not an address of the form tls://HOST:PORT"),
        ("", "not an address of the form tls://HOST:PORT"),
        ("tcp://[::1", "not an address of the form tls://HOST:PORT"),
        ("tcp://no-such-host.invalid:1", "host 'no-such-host.invalid' is not known"),
    ],
)
def test_a_scheduler_that_is_no_address_or_unsafe_is_refused(address: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)), cluster.connect(address, 1):
        pass


def test_an_unsafe_scheduler_is_refused_even_if_nothing_is_stale(project: Project) -> None:  # noqa: F811
    project.call("run", "--jobs", "1", "prepare")
    assert "Nothing to run" in project.call("run", "prepare")
    message = project.call("run", "--scheduler", "tcp://192.0.2.1:8786", "prepare", code=2)
    assert "without TLS, anyone who can reach this port" in message


def test_a_scheduler_on_this_host_without_tls_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(UserError), cluster.connect("tcp://localhost:9", 1):
        pass
    assert "every user of this machine can run code as the workers' user" in capsys.readouterr().err
