"""The Ansible role installs and configures drivekeep on three hosts over ssh; the drive of one host refuses a setting."""
import contextlib
import json
import pathlib
import re
import socket
import subprocess
import tempfile

from keeping import LAY_ASIDE, Keeping
from patience import PATIENCE

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
HOSTS = ("alpha", "beta", "gamma")
APM, LEVEL = 0x05, 127
DIRECTORY = "/etc/drivekeep/drivekeep.conf.d"
# The hosts install the package from this local archive. Real hosts would use an archive in the network.
ARCHIVE = "/usr/lib/drivekeep-test/packages"
SETUP = LAY_ASIDE + """mkdir -p /etc/systemd/network
printf '[Match]\\nName=e*\\n[Network]\\nDHCP=ipv4\\n' > /etc/systemd/network/test.network
systemctl enable systemd-networkd ssh
chmod 700 /root/.ssh
"""
PUBLISH = f"""cd {ARCHIVE}
{{ dpkg-deb -f now.deb; echo "Filename: ./now.deb"; echo "Size: $(stat -c %s now.deb)"; echo "SHA256: $(sha256sum now.deb | cut -d' ' -f1)"; }} > Packages
echo "deb [trusted=yes] file:{ARCHIVE} ./" > /etc/apt/sources.list
apt-get -q update
"""
PLAYBOOK = """
- hosts: all
  gather_facts: false
  roles:
    - role: drivekeep.drivekeep.drivekeep
      drivekeep_files: {files}
      drivekeep_absent_files: {absent}
      drivekeep_may_fail: {may_fail}
  post_tasks:
    - name: Facts
      ansible.builtin.copy:
        content: "{{{{ drivekeep_status | to_json }}}}"
        dest: "{folder}/{{{{ inventory_hostname }}}}.json"
        mode: "0644"
      delegate_to: localhost
      changed_when: false
      when: not ansible_check_mode
"""


def rules(level):
    return {"50-disks": {"drives": [{"match": {"transport": ["sata", "sas"], "rotational": True}, "apm": level, "lookahead": False},
                                    {"match": {"model": 'no "such"* \\'}, "apm": "off"}]}}


class Ansible(Keeping):
    """Ansible installs drivekeep on three hosts, in check mode, twice, and with invalid files; the drive of one host refuses a setting"""
    packages = ("openssh-server", "python3-apt")
    rare = True
    alone = True    # three virtual machines already load the test host

    def run(self):
        self.drive_of = {host: self.drive(f"SN-{host.upper()}", apm=254) for host in HOSTS}
        with contextlib.ExitStack() as stack:
            self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp")))
            key = self.folder / "key"
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
            self.machines, lines = {}, []
            for host, drive in self.drive_of.items():
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    port = free.getsockname()[1]
                _, arguments = stack.enter_context(self.drives(drive))
                self.machines[host] = stack.enter_context(self.machine(
                    cold=True, files={"/root/.ssh/authorized_keys": (key.with_suffix(".pub").read_text(), 0o600), "/etc/hostname": host + "\n"},
                    setup=SETUP, extra_args=[*arguments, "-netdev", f"user,id=net0,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
                                             "-device", "virtio-net-pci,netdev=net0"]))
                lines.append(f"{host} ansible_host=127.0.0.1 ansible_port={port}\n")
            (self.folder / "hosts").write_text("".join(lines))
            for machine in self.machines.values():
                machine.run(PUBLISH, 120)
                machine.wait_until("systemctl is-active -q ssh && ls /run/systemd/netif/leases/*", 120)
            collections = self.folder / "ansible_collections/drivekeep"
            collections.mkdir(parents=True)
            (collections / "drivekeep").symlink_to(REPOSITORY / "packaging/ansible")
            done = subprocess.run(["ansible-lint", "--nocolor", "--offline", "-q", "--profile", "production"], cwd=REPOSITORY / "packaging/ansible",
                                  capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"})
            self.equal("ansible-lint accepts the collection", (done.returncode, done.stdout), (0, ""))
            self.check_first(self.machines["beta"])
            self.check_again()
            self.check_change()
            self.check_error()
            self.check_lost_reload(self.machines["alpha"])
            self.check_mended()

    def play(self, files, *options, absent=(), may_fail=False):
        """Returns {host: (number of changed tasks, number of failed and unreachable tasks)} and the output."""
        playbook = self.folder / "site.yml"
        playbook.write_text(PLAYBOOK.format(files=json.dumps(files), absent=json.dumps(list(absent)), may_fail=json.dumps(may_fail),
                                            folder=self.folder))
        done = subprocess.run(["ansible-playbook", "-i", self.folder / "hosts", *options, playbook], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600 * PATIENCE, env={
                                  "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                                  "ANSIBLE_COLLECTIONS_PATHS": str(self.folder), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
                                  "ANSIBLE_TIMEOUT": "120", "ANSIBLE_HOST_KEY_CHECKING": "0",
                                  "ANSIBLE_SSH_ARGS": "-o UserKnownHostsFile=/dev/null -o ControlMaster=auto -o ControlPersist=600",
                                  "ANSIBLE_PRIVATE_KEY_FILE": str(self.folder / "key"), "ANSIBLE_REMOTE_USER": "root"})
        recap = {}
        for host, line in re.findall(r"^(\w+) +: (ok=.*)$", done.stdout, re.M):
            counts = {key: int(number) for key, number in re.findall(r"(\w+)=(\d+)", line)}
            recap[host] = counts["changed"], counts["failed"] + counts["unreachable"]
        if not recap:
            raise AssertionError(done.stdout)
        return recap, done.stdout

    def failures(self, recap):
        return {host: failed for host, (_, failed) in recap.items()}

    def judge(self, claim, actual, expected, text):
        if not self.equal(claim, actual, expected):
            self.note(text)

    def files(self):
        return {host: machine.run(f"cd {DIRECTORY} && ls && cat * 2>/dev/null", check=False).stdout for host, machine in self.machines.items()}

    def apm(self):
        return {host: drive["apm"] for host, drive in self.drive_of.items()}

    def check_first(self, refusing):
        self.drive_of["beta"].inject("abort", command=0xEF, feature=APM, origin="passthrough", times=None)
        recap, text = self.play(rules(LEVEL), "--check", "--diff")
        self.judge("--check on hosts without drivekeep reports one change: the installation of the package",
                   (recap, refusing.run("command -v drivekeep", check=False).stdout), (dict.fromkeys(HOSTS, (1, 0)), ""), text)
        recap, text = self.play(rules(LEVEL))
        self.judge("only the host whose drive refuses the setting fails", self.failures(recap), {"alpha": 0, "beta": 1, "gamma": 0}, text)
        self.match("the output has the wanted value, the verdict and the cause",
                   text, rf"sd. apm: {LEVEL} is wanted; refused: the drive rejected")
        self.equal("the drives of the two other hosts have the wanted APM level", self.apm(), {"alpha": LEVEL, "beta": 254, "gamma": LEVEL})
        self.equal("the fact drivekeep_status has the actual value and the verdict",
                   {host: self.fact(host, "apm") for host in ("alpha", "gamma")},
                   {host: (str(LEVEL), "applied") for host in ("alpha", "gamma")})
        self.equal("the service is enabled and active on the failing host",
                   refusing.run("systemctl is-enabled drivekeep; systemctl is-active drivekeep").stdout,
                   "enabled\nactive\n")

    def fact(self, host, setting):
        told = json.loads((self.folder / f"{host}.json").read_text())
        [found] = [s for drive in told["drives"] for s in drive["settings"] if s["name"] == setting and told["host"] == host]
        return found["actual"], found["verdict"]

    def check_again(self):
        recap, text = self.play(rules(LEVEL))
        self.judge("a second run changes nothing", recap, {"alpha": (0, 0), "beta": (0, 1), "gamma": (0, 0)}, text)
        recap, text = self.play(rules(LEVEL), may_fail=True)
        self.judge("with drivekeep_may_fail no host fails", recap, dict.fromkeys(HOSTS, (0, 0)), text)

    def check_change(self):
        marks, files = {host: drive.log.mark() for host, drive in self.drive_of.items()}, self.files()
        recap, text = self.play(rules(192), "--check", "--diff")
        self.judge("--check reports a change of each host", {host: (changed > 0, failed) for host, (changed, failed) in recap.items()},
                   dict.fromkeys(HOSTS, (True, 0)), text)
        self.match("--diff shows the changed line of the file", text, r"(?s)^-.*apm = 127.*^\+.*apm = 192")
        self.equal("--check --diff shows the plan for each host's drive",
                   len(re.findall(r"apm +192 +(?:127|254) +write ", text)), len(HOSTS))
        self.equal("--check writes no setting, changes no file and leaves no temporary file",
                   ({host: [e.registers() for e in drive.log.since(marks[host]) if e.sets] for host, drive in self.drive_of.items()}, self.files(),
                    [machine.run("find / -xdev -name '*.drivekeep'").stdout for machine in self.machines.values()]),
                   ({host: [] for host in HOSTS}, files, [""] * len(HOSTS)))
        self.play(rules(192), "--limit=alpha")
        self.equal("a run with --limit=alpha writes to the drive of alpha only", self.apm(), {"alpha": 192, "beta": 254, "gamma": LEVEL})

    def check_error(self):
        files = self.files()
        warning = {"match": {"rotational": True}, "apm": 100, "spindown_time": "20min"}
        for options in ["--check"], []:
            for what, blocks, sentence in (("an error", [{"match": {}, "apm": 999}], "error: .*apm"), ("a warning", [warning], "warning: apm below")):
                recap, text = self.play({"50-disks": {"drives": blocks}}, *options)
                self.judge(f"{what} in the file: each host fails {'in check mode' if options else 'in a normal run'}", self.failures(recap),
                           dict.fromkeys(HOSTS, 1), text)
                self.match("the output has the message of drivekeep check", text, sentence)
        self.equal("invalid files do not replace the files on the hosts", self.files(), files)
        recap, text = self.play({"../50-disks": {}}, "--limit=alpha")
        self.judge("a key that is not a valid file name fails", self.failures(recap), {"alpha": 1}, text)

    def check_lost_reload(self, machine):
        """The service cannot reload after the role has written a file. The next run has nothing to change, but must still fail."""
        machine.push("/etc/drivekeep/drivekeep.conf", "no_such_option = 1;\n")
        for when in "the run", "the next run":
            recap, text = self.play(rules(130), "--limit=alpha")
            self.judge(f"an error in another file of the host prevents the reload: {when} fails", self.failures(recap), {"alpha": 1}, text)
            self.match("the output has the configuration error", text, r"/etc/drivekeep/drivekeep\.conf:1:1: error: ")
        machine.run("rm /etc/drivekeep/drivekeep.conf")
        recap, text = self.play(rules(130), "--limit=alpha")
        self.judge("after the error is corrected, the next run reloads the file without a change", (recap, self.apm()["alpha"]),
                   ({"alpha": (0, 0)}, 130), text)

    def check_mended(self):
        self.drive_of["beta"].faults.clear()
        self.machines["beta"].run("drivekeep apply", check=False)
        recap, text = self.play(rules(192))
        self.judge("when the drive accepts the setting, no host fails", self.failures(recap), dict.fromkeys(HOSTS, 0), text)
        self.equal("each host's drive has the wanted APM level", self.apm(), dict.fromkeys(HOSTS, 192))
        recap, text = self.play({}, absent=["50-disks"])
        self.judge("a file listed as absent is removed", self.files(), dict.fromkeys(HOSTS, ""), text)
        self.judge("a host without a rule does not fail", self.failures(recap), dict.fromkeys(HOSTS, 0), text)
        self.equal("no host has a wanted setting after the removal of the file",
                   {host: [d["settings"] for d in self.all_status(machine) if d["settings"]]
                                                      for host, machine in self.machines.items()}, {host: [] for host in HOSTS})
