# SPDX-License-Identifier: LGPL-2.1-or-later
# For Puppet. It has never been run.
class drivekeep (
  Hash[String, String] $files = {},
) {
  package { 'drivekeep':
    ensure => installed,
  }

  # A file removed from the hash stays on the machine: remove it with ensure => absent.
  $files.each |$file, $content| {
    # If the new file has an error or a warning, the old file is kept.
    file { "/etc/drivekeep/drivekeep.conf.d/${file}.conf":
      content      => $content,
      owner        => 'root',
      group        => 'root',
      mode         => '0644',
      validate_cmd => '/usr/bin/drivekeep check --strict %',
      require      => Package['drivekeep'],
      notify       => Service['drivekeep'],
    }
  }

  service { 'drivekeep':
    ensure  => running,
    enable  => true,
    restart => '/usr/bin/systemctl reload drivekeep',
    require => Package['drivekeep'],
  }

  # In each run, this command fails if settings are not as wanted.
  exec { '/usr/bin/drivekeep status --wait --failed':
    logoutput => on_failure,
    timeout   => 900,
    unless    => '/usr/bin/drivekeep status',
    require   => Service['drivekeep'],
  }
}
