# SPDX-License-Identifier: LGPL-2.1-or-later
# For Salt. It has never been run.
drivekeep:
  pkg.installed: []
  service.running:
    - enable: True
    - reload: True
    - require:
      - pkg: drivekeep
    - watch:
      - file: /etc/drivekeep/drivekeep.conf.d/50-disks.conf

# With an error or a warning in it the file that is there stays: check_cmd gets the new one's name as its last argument.
/etc/drivekeep/drivekeep.conf.d/50-disks.conf:
  file.managed:
    - user: root
    - group: root
    - mode: '0644'
    - check_cmd: drivekeep check --strict
    - contents: |
        drives = (
          { match = { transport = "sata"; rotational = true; };
            apm = 128; spindown_time = "20min"; }
        );
    - require:
      - pkg: drivekeep

# Fails, in each run, with what has not come true.
drivekeep status --wait --failed:
  cmd.run:
    - unless: drivekeep status
    - timeout: 900
    - require:
      - service: drivekeep
