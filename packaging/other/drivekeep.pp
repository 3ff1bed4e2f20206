# SPDX-License-Identifier: LGPL-2.1-or-later
# For Puppet. It has never been run.
class drivekeep (
  Hash[String, String] $files = {},
) {
  package { 'drivekeep':
    ensure => installed,
  }

  $files.each |$name, $content| {
    # With an error or a warning in it the file that is there stays.
    file { "/etc/drivekeep/drivekeep.conf.d/${name}.conf":
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

  # Fails with what has not come true.
  exec { '/usr/bin/drivekeep status --wait --failed':
    logoutput   => on_failure,
    refreshonly => true,
    subscribe   => Service['drivekeep'],
  }
}
