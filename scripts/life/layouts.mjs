// What MAAS has of the machines' interfaces and disks, asked as any client of MAAS asks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every deployed machine is as `examples/webstack/site/hardware.yaml` describes it: a bond with the node's address, and `/srv` on a
 * logical volume of the second disk.
 *
 * @param {import('./system.mjs').System} system
 * @returns {Promise<number>} how many there are
 */
export async function checkLayouts(system) {
  const [consumer, token, secret] = readFileSync(join(system.folder, 'maas.key'), 'utf8').trim().split(':');
  const authorization = `OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="${consumer}", oauth_token="${token}", oauth_signature="%26${secret}", oauth_nonce="${Date.now()}", oauth_timestamp="${Math.floor(Date.now() / 1000)}"`;
  const answer = await fetch(`${system.maas}/MAAS/api/2.0/machines/?status=deployed`, { headers: { authorization } });
  assert.equal(answer.status, 200, await answer.clone().text());
  const machines = /** @type {any[]} */ (await answer.json());
  for (const { hostname, interface_set: interfaces, volume_groups, blockdevice_set: disks } of machines) {
    const bond = interfaces.find((/** @type {any} */ one) => one.name === 'bond0');
    assert.deepEqual(
      [bond?.type, [...(bond?.parents ?? [])].sort()],
      ['bond', ['eno1', 'eno2']],
      `bond of ${hostname}`,
    );
    const addresses = bond.links.map((/** @type {any} */ link) => `${link.mode} ${link.ip_address}`);
    assert.match(addresses.join(), /^static 10\.76\.0\.\d+$/, `addresses of ${hostname}`);
    assert.equal(volume_groups.length, 1, `volume groups of ${hostname}`);
    const mounts = disks
      .flatMap((/** @type {any} */ disk) => [disk, ...disk.partitions])
      .flatMap((/** @type {any} */ { name, path, filesystem }) =>
        filesystem?.mount_point ? [`${filesystem.mount_point} ${filesystem.fstype} ${name ?? path}`] : [],
      );
    assert.equal(mounts.length, 3, `${hostname} mounts ${mounts.join(', ')}`);
    for (const wanted of [/^\/ ext4 /m, /^\/var ext4 /m, /^\/srv xfs service-srv$/m])
      assert.match(mounts.join('\n'), wanted, `mounts of ${hostname}`);
  }
  return machines.length;
}
