$data = loadyaml('/etc/webstack/data.yaml')
$names = $data['balancers'].map |$balancer| { $balancer['name'] }
$interface = $facts['networking']['primary']
# The first balancer has the address while it answers.
$priority = 150 - 10 * $names.index($facts['networking']['hostname'])

# A reload keeps the requests under way, and those that come meanwhile; a restart refuses them.
class { 'haproxy':
  restart_command  => 'systemctl reload haproxy',
  global_options   => {
    'log'     => '/dev/log local0',
    'maxconn' => '1000',
    'user'    => 'haproxy',
    'group'   => 'haproxy',
    'stats'   => 'socket /run/haproxy/admin.sock mode 660 level admin expose-fd listeners',
  },
  defaults_options => {
    'mode'     => 'http',
    'retries'  => '3',
    'retry-on' => 'conn-failure empty-response',
    'option'   => ['redispatch 1', 'httplog'],
    'timeout'  => ['connect 2s', 'client 60s', 'server 60s', 'queue 30s', 'check 5s'],
  },
}
# More users than that in a second wait a moment: a flood does not reach the databases.
haproxy::listen { 'service':
  ipaddress => '*',
  ports     => '80',
  options   => { 'balance' => 'roundrobin', 'option' => 'httpchk GET /health', 'rate-limit' => 'sessions 100' },
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
    vrrp_script answers {
      script "/usr/bin/pgrep -x haproxy"
      interval 1
    }
    vrrp_instance service {
      state BACKUP
      interface ${interface}
      virtual_router_id 51
      priority ${priority}
      advert_int 1
      virtual_ipaddress {
        ${data['virtual_address']}/24
      }
      track_script {
        answers
      }
    }
    | END
  require => Package['keepalived'],
  notify  => Service['keepalived'],
}
service { 'keepalived':
  ensure  => running,
  enable  => true,
  restart => 'systemctl reload keepalived',
  require => Class['haproxy'],
}
