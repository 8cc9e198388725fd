package { 'prometheus-node-exporter': ensure => present }
service { 'prometheus-node-exporter':
  ensure  => running,
  enable  => true,
  require => Package['prometheus-node-exporter'],
}
