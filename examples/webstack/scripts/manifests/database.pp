$data = loadyaml('/etc/webstack/data.yaml')
$password = strip(file('/etc/webstack/password'))

class { 'postgresql::globals':
  version  => '15',
  encoding => 'UTF8',
  locale   => 'C.UTF-8',
}
class { 'postgresql::server':
  listen_addresses => '*',
}
postgresql::server::db { 'webstack':
  user     => 'webstack',
  owner    => 'webstack',
  password => postgresql_password('webstack', $password),
}
$data['apps'].each |$app| {
  postgresql::server::pg_hba_rule { "application server ${app['name']}":
    type        => 'host',
    database    => 'webstack',
    user        => 'webstack',
    address     => "${app['address']}/32",
    auth_method => 'md5',
  }
}
