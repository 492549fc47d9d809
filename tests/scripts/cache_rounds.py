#!/usr/bin/env python3
"""Processes that share a cache folder, while files in it are damaged and processes are killed: every result is right.

    tests/scripts/cache_rounds.py --tessera build/bin/tessera [--long] [--processes N] [--rounds N]

Each process runs a kernel with one of several constants, of which the right result is computed here, in one of these folders: the shared one; one that does not exist
yet; one inside a regular file; one without permissions (skipped for root, who may do everything).  Meanwhile bytes in the shared folder are flipped, files cut off
and removed, and every fifth process is killed somewhere on its way.  --long is 16 processes of 50 rounds.  Standard library only.
"""
import argparse
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


class Rounds:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.shared = folder / "shared"
        self.program = folder / "scale.tile"
        self.program.write_text(KERNEL)
        (folder / "file").write_text("")
        locked = folder / "locked"
        locked.mkdir(mode=0)
        self.useless = [folder / "file" / "below"] + ([locked / "below"] if os.geteuid() else [])
        self.lock = threading.Lock()
        self.right = self.hits = self.killed = 0
        self.wrong = []
        self.stop = False

    def command(self, constant, cache):
        return [self.options.tessera, "run", str(self.program), "-D", f"C={constant}", "--device", "cpu", "--cache", str(cache), "--arg", f"x=arange:i32:{LENGTH}",
                "--arg", f"y=empty:i32:{LENGTH}", "--print", "y", "--json"]

    def one_process(self, number):
        picked = random.Random(number)
        for round_number in range(self.options.rounds):
            constant = picked.randrange(1, CONSTANTS + 1)
            cache = picked.choice([self.shared] * 6 + [self.folder / f"new-{number}-{round_number}"] + self.useless)
            kill = picked.randrange(5) == 0
            process = subprocess.Popen(self.command(constant, cache), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if kill:
                time.sleep(picked.uniform(0, 0.3))
                process.kill()
            text = process.communicate()[0]
            expected = "[" + ", ".join(str(i * constant + constant) for i in range(LENGTH)) + "]"
            with self.lock:
                if kill and process.returncode == -9:
                    self.killed += 1
                elif process.returncode == 0 and expected in text:
                    self.right += 1
                    self.hits += '"from_cache": true' in text
                else:
                    self.wrong.append(f"C={constant} cache={cache}: exit code {process.returncode}: {text.strip()[:300]}")

    def damage(self):
        picked = random.Random(99)
        while not self.stop:
            time.sleep(picked.uniform(0, 0.2))
            files = [path for path in (self.shared.glob("*") if self.shared.exists() else [])]
            if not files:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--long", action="store_true", help="16 processes of 50 rounds")
    options = parser.parse_args()
    if options.long:
        options.processes, options.rounds = 16, 50
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-rounds-"))
    try:
        rounds = Rounds(options, folder)
        rounds.run()
        # Undisturbed, the second run of each finds what the first has left, whatever that was.
        quiet = 0
        for constant in range(1, CONSTANTS + 1):
            for _ in range(2):
                done = subprocess.run(rounds.command(constant, rounds.shared), capture_output=True, text=True)
            quiet += '"from_cache": true' in done.stdout
        left = subprocess.run([options.tessera, "cache", "size", "--cache", str(rounds.shared)], capture_output=True, text=True).stdout
    finally:
        (folder / "locked").chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
    for line in rounds.wrong[:10]:
        print("WRONG " + line)
    print(f"{rounds.right} right, {rounds.hits} of them from the cache, {rounds.killed} killed, {len(rounds.wrong)} wrong; afterwards {quiet} of {CONSTANTS} found; "
          + re.sub(r"^.*?: ", "", left.strip()))
    failed = len(rounds.wrong) + (quiet != CONSTANTS)
    print(f"{rounds.right + quiet} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
