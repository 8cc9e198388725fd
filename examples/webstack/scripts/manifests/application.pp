$files = '/etc/fuel/plugins/webstack-1.0/files'

package { ['python3-psycopg2', 'python3-pymemcache', 'python3-yaml']: ensure => present }
file { '/opt/webstack': ensure => directory }
file { '/opt/webstack/application.py':
  source => "file://${files}/application.py",
  mode   => '0755',
  notify => Service['webstack'],
}
# A copy, so that a change of its data restarts the service.
file { '/opt/webstack/data.yaml':
  source => 'file:///etc/webstack/data.yaml',
  notify => Service['webstack'],
}
file { '/etc/systemd/system/webstack.service':
  source => "file://${files}/webstack.service",
  notify => Exec['systemctl daemon-reload'],
}
exec { 'systemctl daemon-reload':
  path        => '/usr/bin',
  refreshonly => true,
  notify      => Service['webstack'],
}
service { 'webstack':
  ensure  => running,
  enable  => true,
  require => Package['python3-psycopg2', 'python3-pymemcache', 'python3-yaml'],
}
# The next server leaves only when this one answers again.
exec { 'webstack answers':
  command   => 'curl --fail --silent --show-error --max-time 5 http://127.0.0.1:8000/health',
  path      => '/usr/bin',
  tries     => 60,
  try_sleep => 1,
  require   => Service['webstack'],
}
