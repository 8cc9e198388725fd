$data = loadyaml('/etc/webstack/data.yaml')
$names = $data['balancers'].map |$balancer| { $balancer['name'] }
$interface = $facts['networking']['primary']
# The first balancer has the address while it answers.
$priority = 150 - 10 * $names.index($facts['networking']['hostname'])

class { 'haproxy':
  global_options   => { 'log' => '/dev/log local0', 'maxconn' => '1000', 'user' => 'haproxy', 'group' => 'haproxy' },
  defaults_options => {
    'mode'    => 'http',
    'retries' => '3',
    'option'  => ['redispatch', 'httplog'],
    'timeout' => ['connect 2s', 'client 30s', 'server 30s', 'check 2s'],
  },
}
haproxy::listen { 'service':
  ipaddress => '*',
  ports     => '80',
  options   => { 'balance' => 'roundrobin', 'option' => 'httpchk GET /health' },
}
haproxy::balancermember { 'applications':
  listening_service => 'service',
  ports             => '8000',
  server_names      => $data['apps'].map |$app| { $app['name'] },
  ipaddresses       => $data['apps'].map |$app| { $app['address'] },
  options           => 'check inter 500ms fall 2 rise 2',
}

package { 'keepalived': ensure => present }
file { '/etc/keepalived/keepalived.conf':
  content => @("END"),
    vrrp_instance service {
      state BACKUP
      interface ${interface}
      virtual_router_id ${data['router']}
      priority ${priority}
      advert_int 1
      virtual_ipaddress {
        ${data['virtual_address']}/24
      }
    }
    | END
  require => Package['keepalived'],
  notify  => Service['keepalived'],
}
service { 'keepalived':
  ensure  => running,
  enable  => true,
  require => Class['haproxy'],
}
