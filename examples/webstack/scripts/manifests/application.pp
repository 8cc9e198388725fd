$data = loadyaml('/etc/webstack/data.yaml')
$scripts = '/etc/fuel/plugins/webstack-1.0/files'

package { 'python3-psycopg2': ensure => present }
file { '/opt/webstack': ensure => directory }
file { '/opt/webstack/application.py':
  source => "file://${scripts}/application.py",
  mode   => '0755',
  notify => Service['webstack'],
}
file { '/etc/webstack/database':
  content => "${data['database']}\n",
  notify  => Service['webstack'],
}
file { '/etc/systemd/system/webstack.service':
  source => "file://${scripts}/webstack.service",
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
  require => Package['python3-psycopg2'],
}
