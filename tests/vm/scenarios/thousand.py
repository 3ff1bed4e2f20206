"""A thousand drives that appear at once."""
from faulty import Faulty
from keeping import CONF

NUMBER = 1000
FILE = 'drives = ( { match = { transport = "scsi"; }; read_ahead_kb = 512; timeout = "60s"; } );\n'
RIGHT = "cat /sys/block/sd*/queue/read_ahead_kb | grep -cx 512; cat /sys/block/sd*/device/timeout | grep -cx 60"


class Thousand(Faulty):
    """1,000 drives appear at once (scsi_debug): each is configured once and has its verdict, and the daemon becomes idle"""
    rare = True
    time_limit = 3600

    def run(self):
        with self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", memory=4096) as machine:
            machine.wait_running()
            machine.start(f"modprobe scsi_debug add_host=1 num_tgts=8 max_luns={NUMBER // 8} dev_size_mb=8 delay=0")
            machine.wait_until(f"test $(ls -d /sys/block/sd* | wc -l) = {NUMBER}", 1800, 5)
            machine.run("udevadm settle -t 1800", 1900)
            machine.wait_until(lambda: machine.run(RIGHT, check=False).stdout.split() == [str(NUMBER)] * 2, 1200, 5)
            self.settle(machine, 600)
            self.claim(f"sysfs shows the settings of all {NUMBER} drives", True)
            verdicts = [s["verdict"] for drive in self.all_status(machine) for s in drive["settings"]]
            self.equal("each drive has its verdicts", {v: verdicts.count(v) for v in set(verdicts)}, {"applied": 2 * NUMBER})
            told = machine.run("journalctl -b -o cat --no-pager DRIVEKEEP_VERDICT=applied | wc -l", 300).stdout.strip()
            self.equal("each verdict is logged once", told, str(2 * NUMBER))
            self.equal("the daemon was never restarted", machine.run("systemctl show -P NRestarts drivekeep").stdout, "0\n")
            self.equal("no worker process is left", machine.run("pgrep -c keep-", check=False).stdout, "0\n")
            self.note(machine.run("systemctl show -P MemoryPeak -P CPUUsageNSec drivekeep drivekeep-broker", check=False).stdout)
            self.fault("1,000 drives at once", "scsi_debug", NUMBER, "applied")
