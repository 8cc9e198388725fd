// Spreads database nodes over two clusters of databases: every node that gets the tag mysql with a role gets mysql:1 or
// mysql:2 too, whichever has fewer nodes. Name this file in the setting `tags.extensions`.

const INSTANCES = ['mysql:1', 'mysql:2'];

/** docs/reference/tags.md describes what it is asked and what it answers. */
export const extension = {
  name: 'spread-mysql',
  assignTags({ nodes, others }) {
    const count = new Map(INSTANCES.map((tag) => [tag, 0]));
    const add = (tags) => tags.forEach((tag) => count.has(tag) && count.set(tag, count.get(tag) + 1));
    for (const { tags } of others) add(tags);
    return nodes
      .filter(({ tags }) => tags.includes('mysql'))
      .map(({ node_id, tags }) => {
        const [fewest] = [...INSTANCES].sort((a, b) => count.get(a) - count.get(b));
        add([fewest]);
        return { node_id, tags: [...tags, fewest] };
      });
  },
};
