// Functions of one's own for YAQL. Name this file in the setting `yaql.helpers`.
import { defineFunction, optional, p } from 'sitewright/yaql';

export const helpers = [
  defineFunction({
    name: 'fqdn',
    call: 'both', // fqdn('a') and 'a'.fqdn()
    parameters: [p.string('name'), optional(p.string('domain'), 'example.org')],
    documentation: 'Full name of a node.',
    implementation: (_context, name, domain) => {
      if (name.includes('.')) throw new Error(`${name} has a domain already`);
      return `${name}.${domain}`;
    },
  }),
];
