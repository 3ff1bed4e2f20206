# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep bench` and `drivekeep tune`: fio measures a drive, and the service sets it meanwhile. And what `drivekeep show` draws.

What there is to know of drives, settings and configuration comes from the command's JSON (command.py) and from sysfs
(sysfs.py); only the service writes to drives (service.py).
"""
