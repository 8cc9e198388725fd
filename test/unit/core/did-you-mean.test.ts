import { expect, it } from 'vitest';
import { nearestNames } from '../../../src/core/text/did-you-mean.ts';

it.each([
  ['a typo', 'mastres', ['masters', 'workers'], ['masters']],
  ['another separator', 'primary_controller', ['primary-controller', 'controller'], ['primary-controller']],
  ['a typo after a shared part', 'primary-contoller', ['primary-controller', 'primary-trove'], ['primary-controller']],
  ['a typo before a shared part', 'cmpute-puppet', ['compute-puppet', 'cinder-puppet'], ['compute-puppet']],
  ['a shared beginning only', 'primary-controller', ['primary-trove'], []],
  ['a shared end only', 'openstack-network-start', ['compute-network-start'], []],
  ['shared parts around another word', 'post_deployment_start', ['post_upgrade_start'], []],
])('suggests by %s', (_what, written, known, expected) => {
  expect(nearestNames(written, known)).toEqual(expected);
});
