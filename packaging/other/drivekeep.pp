# SPDX-License-Identifier: LGPL-2.1-or-later
# For Puppet. It has never been run.
class drivekeep (
  Hash[String, String] $files = {},
) {
  package { 'drivekeep':
    ensure => installed,
  }

  # What is taken out of the hash stays on the machine: say ensure => absent of its file.
  $files.each |$file, $content| {
    # With an error or a warning in it the file that is there stays.
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

  # Fails, in each run, with what has not come true.
  exec { '/usr/bin/drivekeep status --wait --failed':
    logoutput => on_failure,
    timeout   => 900,
    unless    => '/usr/bin/drivekeep status',
    require   => Service['drivekeep'],
  }
}
