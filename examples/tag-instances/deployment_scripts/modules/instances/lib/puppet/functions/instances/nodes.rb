# The nodes in the same instances of a service as a node, by their tags:
#
#   node-1: corosync:1, mysql:2
#   node-2: corosync:2, mysql:1
#   node-3: corosync:2, mysql:2
#
#   instances::nodes($network_metadata['nodes'], 'mysql', 'node-1')   # node-1 and node-3
#
# Nodes that have the tag without an instance form an instance of their own.
Puppet::Functions.create_function(:'instances::nodes') do
  # @param nodes By name, each with its tags as `node_roles` (or `tags`): `nodes` of the fact `network_metadata`.
  # @param tag The service, e.g. `mysql`.
  # @param node The node's key, name, fqdn or uid.
  # @return The nodes that are in one of its instances, in the same form; none if it has no instance.
  dispatch :nodes_of_instance do
    param 'Hash', :nodes
    param 'String', :tag
    param 'String', :node
    return_type 'Hash'
  end

  def nodes_of_instance(nodes, tag, node)
    own = nodes.find { |key, data| [key, *data.values_at('name', 'fqdn', 'uid')].compact.map(&:to_s).include?(node) }
    raise Puppet::ParseError, "instances::nodes: there is no node '#{node}'" if own.nil?

    wanted = instances_of(own.last, tag)
    nodes.select { |_, data| (instances_of(data, tag) & wanted).any? }
  end

  def instances_of(data, tag)
    tags = data['tags'] || data['node_roles'] || []
    numbered = tags.select { |one| one.start_with?("#{tag}:") }
    return numbered if numbered.any?

    ([tag, "primary-#{tag}"] & tags).any? ? [tag] : []
  end
end
