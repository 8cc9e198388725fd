class { 'memcached':
  listen_ip  => '0.0.0.0',
  max_memory => 32,
}
