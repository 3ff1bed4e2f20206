"""Compares `drivekeep tune` with the usual ways to tune by hand."""
import json

from drives.mechanics import Mechanics
from keeping import CONF
from scenarios.tuning import KIB, Tuning

TIMES, SECONDS, PRESENT = 6, 200, "128"
VALUES = "128 256 512 1024 2048 4096 8192"      # KiB, the same values as drivekeep measures

# Tuning guides use a loop that measures each value once with hdparm, and picks the fastest value. The script runs this loop, and then
# the same loop with fio.
BY_HAND = """
run() {{
        for value in {values}; do
                echo $value > $queue/read_ahead_kb
                echo $("$@") $value
        done | sort -n | tail -n 1 | cut -d ' ' -f 2
        echo {present} > $queue/read_ahead_kb
}}
by_hdparm() {{ hdparm -t {node} | sed -n 's/.*= *//p' | awk '{{ print $1 * ($2 ~ /^kB/ ? 1 : 1000) }}'; }}
by_fio() {{
        fio --name=by-hand --readonly --filename={node} --rw=read --bs=128k --ioengine=psync --runtime=5 --time_based --output-format=json |
                jq '.jobs[0].read.bw'
}}
queue=/sys/block/{name}/queue
for i in $(seq {times}); do
        echo hdparm $(run by_hdparm)
        echo fio $(run by_fio)
        drivekeep tune --json {node} read_ahead_kb --budget={seconds}s | jq -r '.settings[0] | "tune \\(.picked) \\(.reason)"'
done
"""


class TuningBeside(Tuning):
    """Counts how often the right value is picked by a loop with one hdparm -t per value, the same loop with fio, and `drivekeep tune`"""
    rare = True
    alone = True
    time_limit = TIMES * 600

    def run(self):
        # Right values for SN-KNEE are within one step of the read-ahead that the drive needs. SN-SAME is equally fast with all values, so
        # only the present value is right.
        right = {"SN-KNEE": ("256", "512", "1024"), "SN-SAME": (PRESENT,)}
        drives = (self.drive("SN-KNEE", size_mb=65536, mechanics=Mechanics(enough=512 * KIB)),
                  self.drive("SN-SAME", size_mb=65536, mechanics=Mechanics()))
        with self.drives(*drives) as (_, arguments), \
                self.machine(files={CONF: "drives = ();\n"}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            for serial in right:
                node = self.node(machine, serial)
                machine.push(f"/root/{serial}", BY_HAND.format(node=node, name=node[5:], values=VALUES, present=PRESENT, times=TIMES,
                                                               seconds=SECONDS))
                machine.run(f"systemd-run -q --unit={serial} -p StandardOutput=file:/root/{serial}.out sh /root/{serial}")
            picked = {}
            for serial in right:
                machine.wait_until(f"! systemctl is-active -q {serial}", self.time_limit)
                picked[serial] = self.read(machine.run(f"cat /root/{serial}.out").stdout)
                self.note(f"{serial}: {json.dumps(picked[serial])}")
            table = [("picks right, of " + str(TIMES), *right)]
            for program in ("hdparm", "fio", "tune"):
                counts = {serial: sum(value in right[serial] for value in picked[serial][program]) for serial in right}
                table.append((program, *map(str, counts.values())))
                self.claim(f"{program} picks a value {TIMES} times", all(len(picked[serial][program]) == TIMES for serial in right))
            self.show_table(table)

    def read(self, told):
        """Returns the picked values by program, in KiB. A value is "unknown" if there were too few samples."""
        found = {"hdparm": [], "fio": [], "tune": []}
        for program, value, *rest in map(str.split, told.splitlines()):
            found[program].append("unknown" if rest[-1:] == ["unknown"] else str(int(value) * KIB) if rest[:1] == ["MiB"] else value)
        return found
