"""Kernels that are built here: the cache, errors and a build with stand-ins for apt and make; and a boot, if one has been built."""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import subprocess
import sys
import tarfile
import time
from collections import namedtuple
from pathlib import Path

import pytest

from sawtooth import streams
from sawtooth.backends import kernels, uml
from sawtooth.errors import BackendUnavailable

KCONFIG = "config 64BIT\n\tbool\n\ndefconfig\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig NR_CPUS\n\tint\n\tdefault 1\n"

# Stand-ins for the programs of a build: apt knows two series, and `make` makes what the real one would leave behind.
APT_CACHE = """#!/bin/sh
case "$*" in
    "pkgnames linux-source-") printf 'linux-source-6.12\\nlinux-source-6.1\\nlinux-source-6.1-doc\\nlinux-source-\\n' ;;
    "depends linux-source") printf 'linux-source\\n  Depends: linux-source-6.1\\n' ;;
    "show --no-all-versions linux-source-6.1") printf 'Package: linux-source-6.1\\nVersion: %s\\n' "$(cat "$NEWEST")" ;;
    "show --no-all-versions linux-source-6.12") printf 'Package: linux-source-6.12\\nVersion: 6.12.9-1\\n' ;;
    "show --no-all-versions linux-source-6.1=6.1.7-1") printf 'Package: linux-source-6.1\\nVersion: 6.1.7-1\\n' ;;
    *) exit 100 ;;
esac
"""
APT_GET = """#!/bin/sh
case "$*" in
    "install --simulate --no-install-recommends "*) printf 'Inst flex (2.6)\\nInst libc6 [2.36] (2.37)\\nConf flex (2.6)\\n' ;;
    "download linux-source-"*) cp "$SOURCE" source.deb ;;
    "download flex") : > flex.deb ;;
    *) echo "apt-get: $*" >&2; exit 100 ;;
esac
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/bin" "$3/usr/src"
case "$2" in
    */flex.deb) printf '#!/bin/sh\\n' > "$3/usr/bin/flex"; chmod +x "$3/usr/bin/flex" ;;
    *) cp "$2" "$3/usr/src/linux-source-6.1.tar.gz" ;;
esac
"""
MAKE = """#!/bin/sh
[ -n "$BROKEN" ] && { echo "  CC      init/main.o"; echo "init/main.c:1: error: no such luck" >&2; exit 2; }
for last; do :; done
case "$last" in
    allnoconfig)
        flex || exit 3
        for word; do case "$word" in KCONFIG_ALLCONFIG=*) grep '^CONFIG_' "${word#*=}" > .config ;; esac; done
        echo "CONFIG_HZ=$(sed -n '/^config HZ/,/default/s/.*default //p' arch/um/Kconfig)" >> .config ;;
    linux)
        [ -n "$SLOW" ] && exec sleep 60
        env | sort > environment
        printf '#!/bin/sh\\necho 6.1.9\\n' > linux; chmod +x linux ;;
esac
"""
STRIP = '#!/bin/sh\ncp "$3" "$2"\n'
GCC = "#!/bin/sh\ncat > /dev/null\necho 'gcc (Stand-in) 12'\n"
NICE = '#!/bin/sh\nexec "$@"\n'


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with stand-ins for the programs of a build, and an empty cache; flex is not installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_ins = {"apt-cache": APT_CACHE, "apt-get": APT_GET, "dpkg-deb": DPKG_DEB, "make": MAKE, "strip": STRIP, "gcc": GCC, "nice": NICE}
    for name, text in stand_ins.items():
        # The environment of a build is empty but for what it needs, so what directs the stand-ins is written into them.
        directed = "".join(f'{key}="$(cat {tmp_path / key} 2>/dev/null)"\n' for key in ("BROKEN", "SLOW"))
        directed += f"NEWEST={tmp_path / 'newest'}\nSOURCE={tmp_path / 'source.tar.gz'}\n"
        shebang, _, rest = text.partition("\n")
        (programs / name).write_text(f"{shebang}\n{directed}{rest}")
        (programs / name).chmod(0o755)
    for name in ("ld", "perl", "xz", "bison", "m4", "bc"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    for name in ("sh", "cat", "cp", "mkdir", "chmod", "sed", "grep", "env", "sort", "sleep", "tar", "gzip"):
        found = next(place for place in (Path("/bin") / name, Path("/usr/bin") / name) if place.exists())
        (programs / name).symlink_to(found)
    tree = tmp_path / "linux-source-6.1" / "arch" / "um"
    tree.mkdir(parents=True)
    (tree / "Kconfig").write_text(KCONFIG)
    with tarfile.open(tmp_path / "source.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "linux-source-6.1", "linux-source-6.1")
    (tmp_path / "newest").write_text("6.1.9-1")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return tmp_path


def cache(machine: Path) -> list[str]:
    """What is in the cache, but for the lock."""
    return sorted(path.name for path in (machine / "cache" / "sawtooth" / "kernels").iterdir() if path.name != ".lock")


def test_a_kernel_says_what_it_was_made_of(machine: Path) -> None:
    kernel = kernels.build("6.1", 250)
    assert (kernel.name, kernel.release, kernel.hz, kernel.virtual) == ("6.1-hz250", "6.1.9", 250, "time-travel")
    assert (kernel.source_package, kernel.source_version, kernel.compiler) == ("linux-source-6.1", "6.1.9-1", "gcc (Stand-in) 12")
    assert " ".join(kernel.algorithms) == (
        "bbr bic cdg cubic dctcp highspeed htcp hybla illinois lp nv reno scalable vegas veno westwood yeah"
    )
    assert {"netem", "tbf", "fq", "fq_codel", "red", "pie", "htb", "ingress", "pfifo_fast"} <= set(kernel.qdiscs)
    assert kernel.binary_sha256 == hashlib.sha256(kernel.binary.read_bytes()).hexdigest()
    assert kernel.config_sha256 == hashlib.sha256((kernel.directory / "config").read_bytes()).hexdigest()
    assert "CONFIG_HZ=250\n" in (kernel.directory / "config").read_text()
    assert kernels.find("6.1-hz250") == kernel
    assert json.loads((kernel.directory / "kernel.json").read_text())["source_version"] == "6.1.9-1"
    assert cache(machine) == ["6.1-hz250"]


@pytest.mark.usefixtures("machine")
def test_the_distribution_s_own_series_is_the_default() -> None:
    assert kernels.build(hz=100).name == "6.1-hz100"


def test_an_exact_version_has_a_name_of_its_own(machine: Path) -> None:
    kernels.build("6.1")
    assert kernels.build("6.1.7-1").source_version == "6.1.7-1"
    assert cache(machine) == ["6.1-hz250", "6.1.7-1-hz250"]


@pytest.mark.usefixtures("machine")
def test_a_series_is_not_taken_for_a_longer_one() -> None:
    assert kernels.build("6.12").source_version == "6.12.9-1"


def test_the_same_request_is_not_built_again(machine: Path) -> None:
    first = kernels.build("6.1")
    (machine / "BROKEN").write_text("yes")
    assert kernels.build("6.1") == first


@pytest.mark.parametrize("changed", ["package", "fragment", "damage"])
def test_a_changed_request_or_a_damaged_kernel_is_built_again_in_its_place(
    machine: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    first = kernels.build("6.1")
    if changed == "package":
        (machine / "newest").write_text("6.1.10-1")
    elif changed == "fragment":
        other = machine / "fragment"
        other.write_text(kernels.FRAGMENT.read_text() + "CONFIG_IPV6=y\n")
        monkeypatch.setattr(kernels, "FRAGMENT", other)
    else:
        (first.directory / "kernel.json").write_text("{}")
    again = kernels.build("6.1")
    assert cache(machine) == ["6.1-hz250"]
    assert (again.request_sha256 == first.request_sha256) == (changed == "damage")
    assert kernels.find("6.1-hz250") == again


def test_nothing_of_this_machine_goes_into_a_kernel(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCFLAGS", "-O3")
    monkeypatch.setenv("KBUILD_BUILD_TIMESTAMP", "now")
    (machine / "bin" / "strip").write_text(f'#!/bin/sh\ncp "$3" "$2"\ncp "${{3%/*}}/environment" {machine}/seen\n')
    kernels.build("6.1")
    seen = (machine / "seen").read_text().splitlines()
    assert not [line for line in seen if line.startswith("KCFLAGS")]
    assert "KBUILD_BUILD_TIMESTAMP=1970-01-01" in seen


def test_a_failed_build_shows_its_end_and_keeps_its_log_and_the_old_kernel(machine: Path) -> None:
    old = kernels.build("6.1")
    (machine / "newest").write_text("6.1.10-1")
    (machine / "BROKEN").write_text("yes")
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build("6.1")
    log = machine / "cache" / "sawtooth" / "kernels" / "6.1-hz250.log"
    assert str(raised.value).startswith("error: `make ARCH=um ")
    assert "error: no such luck" in str(raised.value)
    assert str(raised.value).endswith(f"\nhint: all it said is in {log}")
    assert "init/main.o" in log.read_text()
    assert kernels.available() == [old]
    assert cache(machine) == ["6.1-hz250", "6.1-hz250.log"]


def test_an_interrupted_build_leaves_nothing_running_and_no_source(machine: Path) -> None:
    (machine / "SLOW").write_text("yes")
    code = "from sawtooth.backends import kernels\nkernels.build('6.1')"
    deadline = time.monotonic() + 60
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        while not compiling(machine / "cache") and time.monotonic() < deadline:
            time.sleep(0.02)
        began = compiling(machine / "cache")
        process.send_signal(signal.SIGINT)
    assert began
    assert process.returncode == -signal.SIGINT
    assert not working_below(machine / "cache")
    assert cache(machine) == ["6.1-hz250.log"]


def test_what_a_killed_build_left_is_removed_by_the_next(machine: Path) -> None:
    left = machine / "cache" / "sawtooth" / "kernels" / ".building-x" / "tree"
    left.mkdir(parents=True)
    assert kernels.available() == []
    kernels.build("6.1")
    assert cache(machine) == ["6.1-hz250"]


@pytest.mark.usefixtures("machine")
def test_a_version_that_apt_does_not_have_says_which_it_has() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build("5.10")
    assert str(raised.value) == (
        "error: apt offers no source of kernel `5.10`\n"
        "hint: it offers 6.1, 6.12; `apt-cache madison linux-source-6.12` lists exact versions"
    )
    with pytest.raises(BackendUnavailable, match=r"apt offers no source of kernel `6\.1\.8-1`"):
        kernels.build("6.1.8-1")


def test_without_lists_of_packages_it_says_how_to_get_them(machine: Path) -> None:
    (machine / "bin" / "apt-cache").write_text("#!/bin/sh\n")
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build()
    assert str(raised.value) == "error: apt offers no kernel source\nhint: `apt-get update`, as root, fetches the lists of packages"


def test_missing_programs_are_named_with_their_packages(machine: Path) -> None:
    for name in ("make", "ld"):
        (machine / "bin" / name).unlink()
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build()
    assert str(raised.value) == "error: building a kernel needs make, ld, not found here\nhint: install the packages binutils, make"


def test_a_compiler_without_the_library_s_headers_is_said_to_lack_them(machine: Path) -> None:
    (machine / "bin" / "gcc").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build()
    assert str(raised.value) == "error: gcc compiles no program here\nhint: install the package libc6-dev"


@pytest.mark.usefixtures("machine")
def test_an_unusual_hz_is_refused() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build(hz=60)
    assert str(raised.value) == "error: HZ cannot be 60\nhint: it is one of 100, 250, 300, 1000"


def test_a_full_disk_is_noticed_before_anything_is_fetched(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10_000_000_000, 9_000_000_000, 1_000_000_000))
    with pytest.raises(BackendUnavailable, match=r"has 1\.0 GB free; building a kernel takes 3 GB for some minutes"):
        kernels.build()
    assert cache(machine) == []


def test_a_source_that_cannot_be_configured_is_refused(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fragment = machine / "fragment"
    fragment.write_text(kernels.FRAGMENT.read_text().replace("CONFIG_UML_TIME_TRAVEL_SUPPORT=y\n", ""))
    monkeypatch.setattr(kernels, "FRAGMENT", fragment)
    with pytest.raises(BackendUnavailable) as raised:
        kernels.build()
    assert raised.value.message == "linux-source-6.1 6.1.9-1 cannot be configured as guests need it: no UML_TIME_TRAVEL_SUPPORT"


def test_hz_is_set_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "arch" / "um" / "Kconfig"
    path.parent.mkdir(parents=True)
    path.write_text(KCONFIG)
    kernels.set_hz(tmp_path, 1000)
    assert path.read_text() == KCONFIG.replace("default 100", "default 1000")
    path.write_text("config HZ\n\tint\n\nconfig OTHER\n\tint\n\tdefault 100\n")
    with pytest.raises(BackendUnavailable, match="does not say HZ"):
        kernels.set_hz(tmp_path, 1000)


@pytest.mark.usefixtures("machine")
def test_a_kernel_that_is_not_there_has_a_hint() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        kernels.find("6.1-hz100")
    assert str(raised.value) == "error: there is no kernel `6.1-hz100`\nhint: `sawtooth kernel build 6.1 --hz 100` makes it"
    kernels.build("6.1", 1000)
    with pytest.raises(BackendUnavailable) as raised:
        kernels.find("6.1-hz10000")
    assert (
        str(raised.value)
        == "error: there is no kernel `6.1-hz10000`\nhint: did you mean `6.1-hz1000`?; or `sawtooth kernel build` makes one"
    )


def test_a_removed_kernel_is_gone(machine: Path) -> None:
    kernels.build("6.1")
    assert kernels.remove("6.1-hz250").name == "6.1-hz250"
    assert kernels.available() == []
    assert cache(machine) == []
    with pytest.raises(BackendUnavailable):
        kernels.remove("../kernels")


def test_progress_is_a_line_per_step_where_there_is_no_terminal(machine: Path) -> None:
    with (machine / "said").open("w") as out, kernels.progress(streams.Console(file=out)) as say:
        kernels.build("6.1", jobs=3, say=say)
    assert (machine / "said").read_text().splitlines() == [
        "fetching flex", "fetching linux-source-6.1 6.1.9-1", "unpacking the source", "configuring", "6.1-hz250 is built",
    ]  # fmt: skip


def compiling(cache: Path) -> bool:
    """Whether the stand-in for a compiler, which sleeps, has begun."""
    names: list[str] = []
    for process in working_below(cache):
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{process}/comm").read_text().strip())
    return "sleep" in names


def working_below(directory: Path) -> list[str]:
    """Processes whose working directory is below one."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if entry.readlink().is_relative_to(directory):
                found.append(entry.parent.name)
    return found


def built() -> kernels.Kernel | None:
    """A kernel that somebody has built on this machine."""
    return next(iter(kernels.available()), None)


@pytest.mark.skipif(built() is None, reason="no kernel has been built: `sawtooth kernel build` makes one, in minutes")
def test_two_boots_of_a_built_kernel_are_the_same_bit_for_bit() -> None:
    kernel = built()
    assert kernel is not None
    flow = {"path": ["l"], "source": {"name": "bulk"}}
    scenarios = [
        json.dumps({
            "duration": "1 s", "sample": "10 ms", "flows": [flow | {"cc": f"kernel:{name}"}], "kernel": {"image": kernel.name},
            "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "20 packets"}}},
        })
        for name in kernel.algorithms
    ]  # fmt: skip
    once, again = (uml.run_batch(scenarios, [1] * len(scenarios)) for _ in range(2))
    assert not once.errors
    # The queue is small enough for drops, which a microsecond would move.
    assert once.tables["links"]["dropped_packets"].sum() > 100
    assert set(once.tables) == set(again.tables)
    for name, table in once.tables.items():
        assert table.equals(again.tables[name]), name
