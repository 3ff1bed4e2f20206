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

# If the new file has an error or a warning, the old file is kept. check_cmd gets the name of the new file as its last argument.
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

# In each run, this command fails if settings are not as wanted.
drivekeep status --wait --failed:
  cmd.run:
    - unless: drivekeep status
    - timeout: 900
    - require:
      - service: drivekeep
