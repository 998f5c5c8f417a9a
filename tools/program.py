"""Running the program for tests and docs: the same place, environment and masks."""
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What may differ from run to run or machine to machine: how long a search took.
MASKS = [
    (re.compile(r"(\b(?:in|took) )[\d.,]+ ?(?:us|ms|s|min)\b"), r"\1<time>"),
    (re.compile(r"[\d.,]+ ?[kM]? ?layouts(?:/s| a second| per second)"), "<rate> layouts/s"),
    (re.compile(r'("(?:seconds|wall_s|measured_s)": )[-\d.e+]+'), r"\1<time>"),
]


def mask(text: str) -> str:
    """The text with times of this run replaced, so that two runs can be compared."""
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def run(ridge: str, command: str) -> tuple:
    """Run a shell line as if in the tree's root, `ridge` being the built program.

    It runs in a folder of its own that has the tree's entries as links, so that files it
    writes vanish afterwards. @return (exit code, stdout, stderr). The user's own settings
    are not seen.
    """
    with tempfile.TemporaryDirectory() as home:
        for name in os.listdir(ROOT):
            if name not in ("build", ".git"):
                os.symlink(os.path.join(ROOT, name), os.path.join(home, name))
        os.mkdir(os.path.join(home, ".bin"))
        os.symlink(os.path.abspath(ridge), os.path.join(home, ".bin", "ridge"))
        environment = {
            "PATH": os.path.join(home, ".bin") + os.pathsep + os.environ.get("PATH", ""),
            "HOME": home,
            "TMPDIR": home,
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }
        for name, value in os.environ.items():
            if name.endswith("_OPTIONS"):  # those of the sanitizers
                environment[name] = value
        done = subprocess.run(
            ["bash", "-c", command], cwd=home, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=100, check=False)
    decode = [stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr)]
    return done.returncode, decode[0], decode[1]
