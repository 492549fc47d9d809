#!/usr/bin/env python3
"""Processes that share cache folders, while files in them are damaged and processes are killed: every result is right.

    tests/scripts/cache_rounds.py --tessera build/bin/tessera [--long] [--processes N] [--rounds N]

Each process runs a kernel with one of several constants, of which the right result is computed here.  Every fifth is killed somewhere on its way.  The folder is

  shared     that of all processes; meanwhile bytes in it are flipped, files cut off and removed
  capped     that of all processes too, of a size which half of the results fill
  new        one that does not exist yet, nor the one above it
  file       one inside a regular file
  mount      one on a mount where nobody can make folders
  locked     one without any permission           } as another user where this one is root, who may do everything;
  read only  one with whole and damaged files     } nothing in them changes
  full       one on a disk that is full (a limit on the size of files stands for it)

--long is 16 processes of 50 rounds.  Standard library only.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

KERNEL = """kernel scale<BN = 64, C = 1>(x: in i32[N], y: out i32[N]) grid (i in 0..N by BN) {
  y[i +: BN] = x[i +: BN] * C + C
}
"""
LENGTH, CONSTANTS = 5, 6
SUFFIX = ".tessera-cache"
NOBODY = 65534
#: Files of more than a block are refused with an error, as by a full disk, and not with a signal.
FULL_DISK = ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]


def expected(constant):
    return "[" + ", ".join(str(i * constant + constant) for i in range(LENGTH)) + "]"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Rounds:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        folder.chmod(0o755)  # another user finds the program
        self.program = folder / "scale.tile"
        self.program.write_text(KERNEL)
        self.lock = threading.Lock()
        self.right, self.hits, self.killed = collections.Counter(), collections.Counter(), 0
        self.wrong, self.notes = [], []
        self.stop = False
        self.largest = 0
        self.other_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.shared, self.capped, self.locked, self.read_only = (folder / name for name in ("shared", "capped", "locked", "read-only"))
        begin = time.monotonic()
        for constant in range(1, CONSTANTS + 1):
            if not self.run_once(constant, self.read_only):
                raise SystemExit(f"cache_rounds: {self.wrong}")
        self.seconds = (time.monotonic() - begin) / CONSTANTS
        files = sorted(self.read_only.iterdir())
        self.file_bytes = max(path.stat().st_size for path in files)
        self.limit = self.file_bytes * CONSTANTS // 2
        damaged = bytearray(files[0].read_bytes())
        damaged[len(damaged) // 2] ^= 4
        files[0].write_bytes(damaged)
        files[1].write_bytes(files[1].read_bytes()[:100])
        for path in files:
            path.chmod(0o444)
        self.kept = contents(self.read_only)
        self.read_only.chmod(0o555)
        self.locked.mkdir(mode=0)
        (folder / "file").write_text("")
        self.kinds = ["shared"] * 8 + ["capped"] * 4 + ["new", "file", "mount", "full"]
        if self.may_run_as_other():
            self.kinds += ["locked", "locked", "read only", "read only"]

    def may_run_as_other(self):
        try:
            done = subprocess.run([self.options.tessera, "version"], capture_output=True, cwd="/", **self.other_user)
            if done.returncode == 0:
                return True
        except OSError:
            pass
        self.notes.append("folders without permissions are left out: this user may do everything, and another cannot run tessera here")
        return False

    def command(self, constant, cache):
        return [self.options.tessera, "run", str(self.program), "-D", f"C={constant}", "--device", "cpu", "--cache", str(cache), "--arg", f"x=arange:i32:{LENGTH}",
                "--arg", f"y=empty:i32:{LENGTH}", "--print", "y", "--json"]

    def run_once(self, constant, cache, more=()):
        done = subprocess.run(self.command(constant, cache) + list(more), capture_output=True, text=True)
        if done.returncode == 0 and expected(constant) in done.stdout:
            return done.stdout
        self.wrong.append(f"C={constant} cache={cache}: exit code {done.returncode}: {(done.stdout + done.stderr)[:300]}")
        return ""

    def one_process(self, number):
        picked = random.Random(number)
        for round_number in range(self.options.rounds):
            constant, kind = picked.randrange(1, CONSTANTS + 1), picked.choice(self.kinds)
            folder = {"shared": self.shared, "capped": self.capped, "new": self.folder / f"new-{number}" / str(round_number), "file": self.folder / "file" / "below",
                      "mount": pathlib.Path("/proc/tessera-cache"), "locked": self.locked / "below", "read only": self.read_only, "full": self.folder / "full"}[kind]
            command = self.command(constant, folder)
            if kind == "capped":
                command += ["--cache-limit", str(self.limit)]
            if kind == "full":
                command = FULL_DISK + command
            kill = picked.randrange(5) == 0
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
                                       **(self.other_user if kind in ("locked", "read only") else {}))
            if kill:
                time.sleep(picked.uniform(0, 1.3 * self.seconds))
                process.kill()
            text = process.communicate()[0]
            with self.lock:
                if kill and process.returncode == -9:
                    self.killed += 1
                elif process.returncode == 0 and expected(constant) in text:
                    self.right[kind] += 1
                    self.hits[kind] += '"from_cache": true' in text
                else:
                    self.wrong.append(f"C={constant} cache={folder}: exit code {process.returncode}: {text.strip()[:300]}")

    def damage(self):
        picked = random.Random(99)
        while not self.stop:
            time.sleep(picked.uniform(0, 0.05))
            self.largest = max(self.largest, self.size_of(self.capped))
            files = list(self.shared.glob("*")) if self.shared.exists() else []
            if not files or picked.randrange(3):
                continue
            path = picked.choice(files)
            try:
                data = bytearray(path.read_bytes())
                action = picked.randrange(10)
                if action == 0:
                    path.unlink()
                elif action == 1:
                    path.write_bytes(data[:picked.randrange(len(data) + 1)])
                elif action == 2 and data:
                    data[picked.randrange(len(data))] ^= 1 << picked.randrange(8)
                    path.write_bytes(data)
            except OSError:
                pass  # gone meanwhile

    @staticmethod
    def size_of(folder):
        total = 0
        for path in folder.glob("*" + SUFFIX):
            try:
                total += path.stat().st_size
            except OSError:
                pass
        return total

    def run(self):
        threads = [threading.Thread(target=self.one_process, args=(i,)) for i in range(self.options.processes)]
        vandal = threading.Thread(target=self.damage)
        vandal.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.stop = True
        vandal.join()

    def afterwards(self):
        """Undisturbed, the second run of each constant finds what the first has left, whatever that was; the capped folder is within its limit."""
        found = 0
        for constant in range(1, CONSTANTS + 1):
            self.run_once(constant, self.shared)
            found += '"from_cache": true' in self.run_once(constant, self.shared)
            self.run_once(constant, self.capped, ["--cache-limit", str(self.limit)])
        after = self.size_of(self.capped)
        facts = {
            f"{found} of {CONSTANTS} constants found": found == CONSTANTS,
            f"the capped folder has {after} bytes, at most {self.limit} are allowed": 0 < after <= self.limit,
            # A process publishes, then makes room: between the two, each may be one file above the limit.
            f"it never had more than {self.largest}": self.largest <= self.limit + self.options.processes * self.file_bytes,
            "the shared folder has served results": self.hits["shared"] > 0,
            "nothing came from a folder that cannot hold anything": not any(self.hits[kind] for kind in ("new", "file", "mount", "locked", "full")),
            "processes were killed": self.killed > 0,
        }
        if "locked" in self.kinds:
            facts["the folder without write permission has served its whole files"] = self.hits["read only"] > 0
            facts["and has not changed"] = contents(self.read_only) == self.kept
        left = subprocess.run([self.options.tessera, "cache", "clear", "--cache", str(self.shared)], capture_output=True, text=True).stdout
        facts["clear leaves no file"] = ": 0 files, 0 bytes" in left
        return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera", type=os.path.abspath)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--long", action="store_true", help="16 processes of 50 rounds")
    options = parser.parse_args()
    if options.long:
        options.processes, options.rounds = 16, 50
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-rounds-"))
    try:
        rounds = Rounds(options, folder)
        rounds.run()
        facts = rounds.afterwards()
    finally:
        for path in (folder / "locked", folder / "read-only"):
            if path.exists():
                path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
    for line in rounds.wrong[:10]:
        print("WRONG " + re.sub(r"\s+", " ", line))
    for note in rounds.notes:
        print("note: " + note)
    for fact, holds in facts.items():
        print(f"{'ok    ' if holds else 'FAILED'} {fact}")
    print(f"{options.processes} processes of {options.rounds} rounds: {rounds.killed} killed, {len(rounds.wrong)} wrong; right (of them from the cache): "
          + ", ".join(f"{kind} {count} ({rounds.hits[kind]})" for kind, count in sorted(rounds.right.items())))
    failed = len(rounds.wrong) + sum(not holds for holds in facts.values())
    print(f"{sum(rounds.right.values()) + sum(facts.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
