"""Small files in the formats of the real ones, and a local web server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCHOOL_LINES = ["1  117241803 111", "1  1 5241803 111", "2 2316241803 511", "3139 83824131131"]


@pytest.fixture
def schools_file(tmp_path: Path) -> Path:
    path = tmp_path / "ILEA567.DAT"
    path.write_bytes("".join(line + "\r\n" for line in SCHOOL_LINES).encode() + b"\x1a")
    return path


@pytest.fixture
def oecd_file(tmp_path: Path) -> Path:
    """An export of the OECD's API: byte-order mark, aggregates, quarters out of range."""
    path = tmp_path / "oecd.csv"
    rows = [
        ("AUS", "1969-Q4", 8.1),
        ("AUS", "1970-Q1", 8.2),
        ("AUS", "2019-Q4", 108.5),
        ("AUS", "2020-Q1", 109.0),
        ("OECD", "1970-Q1", 9.9),
        ("EU27_2020", "1970-Q1", 9.8),
        ("NOR", "1970-Q3", 12.5),
    ]
    header = "LOCATION,INDICATOR,SUBJECT,MEASURE,FREQUENCY,TIME,Value,Flag Codes"
    quoted = ",".join(f'"{name}"' for name in header.split(","))
    lines = [
        f'"{place}","CPI","TOT","IDX2015","Q","{time}",{value},' for place, time, value in rows
    ]
    path.write_text("\n".join([quoted, *lines]) + "\n", encoding="utf-8-sig")
    return path


@pytest.fixture
def gho_file(tmp_path: Path) -> Path:
    """An answer of the GHO API, with what must be dropped: regions, both sexes, 85 and over."""
    records = []
    for place, kind in (("ETH", "COUNTRY"), ("NA", "COUNTRY"), ("AFR", "REGION")):
        for year in (2000, 2001, 2010):
            for sex in ("SEX_MLE", "SEX_FMLE", "SEX_BTSX"):
                for age in ("00-01", "01-04", "80-84", "85PLUS"):
                    records.append(
                        {
                            "IndicatorCode": "LIFE_0000000030",
                            "SpatialDimType": kind,
                            "SpatialDim": place,
                            "TimeDim": year,
                            "Dim1": sex,
                            "Dim2": f"AGEGROUP_YEARS{age}",
                            "NumericValue": 0.25,
                        }
                    )
    path = tmp_path / "LIFE_0000000030.json"
    path.write_text(json.dumps({"@odata.context": "x", "value": records}))
    return path


NCD_HEADER = (
    "Country,ISO,Sex,Year,Age group,{response},"
    "{response} lower 95% uncertainty interval,{response} upper 95% uncertainty interval"
)


def ncd_file(path: Path, response: str, values: list[float]) -> Path:
    """A csv in the form of NCD-RisC's releases on children: two values a country."""
    lines = [NCD_HEADER.format(response=response)]
    for country, iso in (("Afghanistan", "AFG"), ("Côte d'Ivoire", "CIV")):
        for sex, value in zip(("Boys", "Girls"), values, strict=True):
            lines.append(f"{country},{iso},{sex},1985,5,{value},0,1")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/short.csv":  # promises more than it sends
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"a,b\n")
            return
        super().do_GET()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "a.csv").write_bytes(b"a,b\n1,2\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}", folder
        running.shutdown()
