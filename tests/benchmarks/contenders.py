"""The contenders and their configuration for the same settings: APM 127, standby after ten minutes, write cache off, look-ahead on.

Each contender can be turned on and off in a running machine. While it is off, its service is stopped, its rule is masked, and its hook is not
executable.
"""
import dataclasses

from keeping import CONF, MODEL, by_id

APM, TIMER, TIMER_SECONDS = 127, 120, 600
POWER_ON = {"apm": 128, "write_cache": True, "lookahead": False}    # the timer is off at power-on
WANTED = {"apm": APM, "write_cache": False, "lookahead": True, "standby_seconds": TIMER_SECONDS}
TWO = ("apm", "standby_seconds")                                    # settings that TLP and tuned support
# A contender is given up after TIMEOUT seconds in total, or after SILENCE seconds without a command.
TIMEOUT, SILENCE = 2400, 60

RULES = "/usr/lib/udev/rules.d/"
ASIDE = "/usr/lib/drivekeep-test/set-aside"
PACKAGES = ["udisks2", "tlp", "tuned", "hd-idle"]                   # the image always has hdparm and smartmontools

BENCH = "/usr/lib/drivekeep-bench"
FLOOR_NODES = f"/dev/disk/by-id/ata-{MODEL.replace(' ', '_')}_SN-*[0-9]"
HOT = "SN-900"                                                      # the drive that is plugged in later


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    unit: str = ""                          # unit that is started for a coldplug and stopped afterwards
    settings: tuple = tuple(WANTED)         # settings that the contender supports
    at_resume: tuple = ()                   # settings that the contender sends again at resume; empty: all settings
    rule: str = ""                          # udev rule, masked while the contender is off
    hook: str = ""                          # hook in system-sleep, not executable while the contender is off
    resume_unit: str = ""                   # unit enabled for suspend.target
    sees_hotplug: bool = True
    sees_resume: bool = True
    leaves: str = ""                        # files of the current boot, removed by off(), because each run stands for a separate boot
    most: int = 0                           # maximum number of drives; 0: any number
    slow: bool = False                      # True: only one run, because a run with many drives takes most of an hour
    processes: tuple = ()                   # names of resident processes in /proc/*/comm
    note: str = ""

    def on(self):
        """Returns a shell command after which the contender gets events."""
        steps = []
        if self.rule:
            steps.append(f"rm -f /etc/udev/rules.d/{self.rule}; udevadm control --reload")
        if self.hook:
            steps.append(f"chmod 755 {self.hook}")
        if self.resume_unit:
            steps.append(f"systemctl enable -q {self.resume_unit}")
        return "; ".join(steps) or "true"

    def off(self):
        steps = []
        if self.unit:
            steps.append(f"systemctl stop {self.unit}; systemctl reset-failed {self.unit} 2>/dev/null")
        if self.leaves:
            steps.append(f"rm -rf {self.leaves}")
        if self.rule:
            steps.append(f"ln -sf /dev/null /etc/udev/rules.d/{self.rule}; udevadm control --reload")
        if self.hook:
            steps.append(f"chmod 644 {self.hook}")
        if self.resume_unit:
            steps.append(f"systemctl disable -q {self.resume_unit}")
        return "; ".join(steps) or "true"


NONE = Contender("none", settings=(), note="udev alone")
FLOOR = Contender("floor", unit="bench-floor.service", rule="95-bench-floor.rules", resume_unit="bench-floor-resume.service")
DRIVEKEEP = Contender("drivekeep", unit="drivekeep.service", leaves="/run/drivekeep/drives", processes=("drivekeepd",))
HDPARM = Contender("hdparm", rule="85-hdparm.rules", hook="/usr/lib/systemd/system-sleep/hdparm", at_resume=TWO,
                   most=26, slow=True,
                   note="Debian's scripts; the rule ends at sdz")
UDISKS = Contender("udisks2", unit="udisks2.service", processes=("udisksd", "polkitd"))
TLP = Contender("tlp", unit="tlp.service", settings=TWO, rule="85-tlp.rules", hook="/usr/lib/systemd/system-sleep/tlp",
                sees_hotplug=False, note="2 of 4 settings")
TUNED = Contender("tuned", unit="tuned.service", settings=TWO, sees_hotplug=False, sees_resume=False, processes=("tuned",),
                  note="2 of 4 settings")
SMARTD = Contender("smartd", unit="smartmontools.service", sees_hotplug=False, sees_resume=False, processes=("smartd",))
HD_IDLE = Contender("hd-idle", unit="hd-idle.service", settings=(), sees_hotplug=False, sees_resume=False,
                    processes=("hd-idle",), note="spin-down only, by its own clock")

ALL = [FLOOR, DRIVEKEEP, HDPARM, UDISKS, TLP, TUNED, SMARTD]
BY_NAME = {each.name: each for each in [NONE, *ALL, HD_IDLE]}

DRIVEKEEP_CONF = f"""\
drives = (
  {{ match = {{ transport = "sata"; }};
    apm = {APM}; spindown_time = "10min"; write_cache = false; lookahead = true; }}
);
"""

# The part "idle" counts the cost of an idle service, so tuned and hd-idle keep their default intervals.
TUNED_PROFILE = f"""\
[main]
summary=The wish of the benchmark

[disk]
devices=sd*
dynamic=0
apm={APM}
spindown={TIMER}
"""

FLOOR_UNIT = f"""\
[Unit]
Description=The floor of the benchmark

[Service]
Type=oneshot
ExecStart={BENCH}/floor {FLOOR_NODES}
"""

FLOOR_HOT_UNIT = f"""\
[Unit]
Description=The floor of the benchmark, for one drive

[Service]
Type=oneshot
ExecStart={BENCH}/floor /dev/%I
"""

FLOOR_RESUME_UNIT = FLOOR_UNIT.replace("[Unit]", "[Unit]\nAfter=suspend.target") + "\n[Install]\nWantedBy=suspend.target\n"

FLOOR_RULE = f"""\
ACTION=="add", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", ENV{{ID_SERIAL_SHORT}}=="{HOT}", \
TAG+="systemd", ENV{{SYSTEMD_WANTS}}+="bench-floor@$kernel.service"
"""


def disk_id(serial):
    return by_id(serial).removeprefix("/dev/disk/by-id/")


def files(serials, snapshot, floor):
    """Returns the files of the guest: each contender's configuration for the drives, the floor program, and snapshot.pl."""
    serials = [*serials, HOT]
    texts = {
        CONF: DRIVEKEEP_CONF,
        "/etc/hdparm.conf": "".join(
            f"{by_id(s)} {{\n\tapm = {APM}\n\tspindown_time = {TIMER}\n\twrite_cache = off\n\tlookahead = on\n}}\n"
            for s in serials),
        "/etc/tlp.d/10-bench.conf": "".join(
            f'{key}="{" ".join([str(value)] * len(serials))}"\n' for key, value in (
                ("DISK_APM_LEVEL_ON_AC", APM), ("DISK_APM_LEVEL_ON_BAT", APM),
                ("DISK_SPINDOWN_TIMEOUT_ON_AC", TIMER), ("DISK_SPINDOWN_TIMEOUT_ON_BAT", TIMER))
        ) + f'DISK_DEVICES="{" ".join(disk_id(s) for s in serials)}"\n',
        "/etc/tuned/bench/tuned.conf": TUNED_PROFILE,
        "/etc/tuned/active_profile": "bench\n",
        "/etc/tuned/profile_mode": "manual\n",
        "/etc/smartd.conf": "".join(
            f"{by_id(s)} -d removable -e apm,{APM} -e standby,{TIMER} -e wcache,off -e lookahead,on\n" for s in serials),
        # smartd refuses to run in a virtual machine by default, because the drives are rarely real.
        "/etc/systemd/system/smartmontools.service.d/bench.conf": "[Unit]\nConditionVirtualization=\n",
        # hd-idle forks twice. In a machine with one processor, systemd takes the first child for the service. When this child exits, systemd
        # believes that the service has ended.
        "/etc/systemd/system/hd-idle.service.d/bench.conf": "[Service]\nGuessMainPID=no\n",
        "/etc/default/hd-idle": 'START_HD_IDLE=true\nHD_IDLE_OPTS="-i 1200"\n',
        "/etc/systemd/system/bench-floor.service": FLOOR_UNIT,
        "/etc/systemd/system/bench-floor@.service": FLOOR_HOT_UNIT,
        "/etc/systemd/system/bench-floor-resume.service": FLOOR_RESUME_UNIT,
        f"{RULES}{FLOOR.rule}": FLOOR_RULE,
        f"{BENCH}/snapshot": (snapshot, 0o755),
        f"{BENCH}/floor": (floor, 0o755),
    }
    for serial in serials:
        texts[f"/etc/udisks2/{MODEL.replace(' ', '-')}-{serial}.conf"] = (
            f"[ATA]\nAPMLevel={APM}\nStandbyTimeout={TIMER}\nWriteCacheEnabled=false\nReadLookaheadEnabled=true\n")
    return texts


def setup():
    """Returns a script for the guest before its first boot. It turns all contenders off and restores Debian's hdparm files."""
    lines = [f"cp -a {ASIDE}/. /",
             "rm -f /etc/systemd/system/smartmontools.service /etc/systemd/system/hd-idle.service",
             "systemctl disable -q udisks2 tlp tuned smartmontools hd-idle hdparm polkit 2>/dev/null || true",
             "rm -f /etc/rc?.d/S??hd-idle"]
    for each in [*ALL, HD_IDLE]:
        if each.rule:
            lines.append(f"ln -sf /dev/null /etc/udev/rules.d/{each.rule}")
        if each.hook:
            lines.append(f"chmod 644 {each.hook}")
    return "\n".join(lines) + "\n"
