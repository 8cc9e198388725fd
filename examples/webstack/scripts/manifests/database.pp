$data = loadyaml('/etc/webstack/data.yaml')
$password = strip(file('/etc/webstack/password'))
$primary = $data['primary']
$own_name = $facts['networking']['hostname']

class { 'postgresql::globals':
  version => '15',
}
class { 'postgresql::server':
  listen_addresses => '*',
  config_entries   => { 'shared_buffers' => '32MB', 'wal_keep_size' => '256MB' },
}
# Rules for all nodes of the network: a new one changes no database.
postgresql::server::pg_hba_rule { 'application servers':
  type        => 'host',
  database    => 'webstack',
  user        => 'webstack',
  address     => 'samenet',
  auth_method => 'md5',
}
postgresql::server::pg_hba_rule { 'replicas':
  type        => 'host',
  database    => 'replication',
  user        => 'replicator',
  address     => 'samenet',
  auth_method => 'md5',
}
file { '/var/lib/postgresql/.pgpass':
  content => "*:*:*:replicator:${password}\n",
  owner   => 'postgres',
  mode    => '0600',
  require => Class['postgresql::server::install'],
}

if $own_name == $primary['name'] {
  postgresql::server::db { 'webstack':
    user     => 'webstack',
    owner    => 'webstack',
    encoding => 'UTF8',
    locale   => 'C.UTF-8',
    password => postgresql::postgresql_password('webstack', $password),
  }
  postgresql::server::role { 'replicator':
    replication   => true,
    password_hash => postgresql::postgresql_password('replicator', $password),
  }
} else {
  postgresql::server::config_entry { 'primary_conninfo':
    value => "host=${primary['address']} user=replicator application_name=${own_name}",
  }
  exec { 'follow the primary':
    command => "/bin/sh /etc/fuel/plugins/webstack-1.0/files/database follow ${primary['address']}",
    unless  => "/bin/sh /etc/fuel/plugins/webstack-1.0/files/database follows ${primary['address']}",
    timeout => 300,
    require => [Class['postgresql::server::config'], File['/var/lib/postgresql/.pgpass']],
    before  => Class['postgresql::server::service'],
  }
}
