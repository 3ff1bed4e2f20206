# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `drivekeep bench` and `drivekeep tune`, which measure drives with fio, and the plots of `drivekeep show`.

Facts about drives, settings and configuration come from the command's JSON (command.py) and from sysfs (sysfs.py). Only the service
changes settings of drives (service.py).
"""
