import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FuelRig, fuelRig, newton } from './fuel-inventory-rig.ts';

let rig: FuelRig;
let release_id: number;
let made = 0;

beforeAll(async () => {
  rig = await fuelRig();
  release_id = await rig.made('/releases/', newton);
});
afterAll(() => rig.close());

const cluster = () => rig.made('/clusters/', { name: `c${made++}`, release_id });
const set = (id: number, name: string, value: unknown) =>
  rig.fuel('PATCH', `/clusters/${id}/attributes`, { editable: { common: { [name]: { value } } } });
const history = async (id: number) => (await rig.fuel('GET', `/clusters/${id}/attributes/history`)).body.items;
const revert = (id: number, number: number) => rig.fuel('POST', `/clusters/${id}/attributes/history/${number}/revert`);
const settingOf = async (id: number, name: string) =>
  (await rig.fuel('GET', `/clusters/${id}/attributes`)).body.editable.common[name].value;

describe('the settings of a cluster', () => {
  it('have a history, which also has what was before the first change', async () => {
    const id = await cluster();
    expect(await history(id)).toEqual([]);
    await set(id, 'debug', true);
    await set(id, 'libvirt_type', 'kvm');
    // Sent again, nothing changes.
    await set(id, 'debug', true);
    expect(await history(id)).toMatchObject([
      { number: 3, by: 'nina', changes: [{ setting: 'common.libvirt_type', before: 'qemu', after: 'kvm' }] },
      { number: 2, by: 'nina', changes: [{ setting: 'common.debug', before: false, after: true }] },
      { number: 1, by: 'as created', changes: [] },
    ]);
    expect((await rig.fuel('GET', `/clusters/${id}/attributes/history/1`)).body).toMatchObject({
      number: 1,
      changes: [
        { setting: 'common.debug', before: false, after: true },
        { setting: 'common.libvirt_type', before: 'qemu', after: 'kvm' },
      ],
    });
  });

  it('go back to a revision, as a new one, with before and after in the audit trail', async () => {
    const id = await cluster();
    await set(id, 'debug', true);
    await set(id, 'libvirt_type', 'kvm');
    expect((await revert(id, 1)).status).toBe(200);
    expect([await settingOf(id, 'debug'), await settingOf(id, 'libvirt_type')]).toEqual([false, 'qemu']);
    const [newest] = await history(id);
    expect(newest).toMatchObject({ number: 4, by: 'nina' });
    const { items } = (await rig.fuel('GET', `/audit?target=cluster/${id}&action=cluster.settings&limit=1`)).body;
    expect(items).toMatchObject([{ actor: 'nina', details: { reverted_to: 1, changes: newest.changes } }]);
    // And forth again.
    await revert(id, 3);
    expect(await settingOf(id, 'libvirt_type')).toBe('kvm');
  });

  it('do not go back to a value that their type no longer allows: the reason is said, and nothing changes', async () => {
    const id = await cluster();
    await set(id, 'libvirt_type', 'kvm');
    await set(id, 'libvirt_type', 'qemu');
    const { attributes } = await rig.store.clusters.get(id);
    const narrowed = JSON.parse(JSON.stringify(attributes));
    narrowed.editable.common.libvirt_type.values = [{ data: 'qemu', label: 'QEMU' }];
    await rig.store.clusters.update(id, { attributes: narrowed });
    const refusal = await rig.refused('POST', `/clusters/${id}/attributes/history/2/revert`);
    expect(refusal).toMatchObject({ status: 400, message: expect.stringContaining('libvirt_type') });
    expect([await settingOf(id, 'libvirt_type'), (await history(id)).length]).toEqual(['qemu', 3]);
  });

  it('of an unknown revision say where the revisions are; a secret is never shown', async () => {
    const id = await cluster();
    expect(await rig.refused('POST', `/clusters/${id}/attributes/history/9/revert`)).toMatchObject({ status: 404 });
    const editable = { operator_user: { password: { value: 'hunter2hunter2' } } };
    await rig.fuel('PATCH', `/clusters/${id}/attributes`, { editable });
    expect(JSON.stringify(await history(id))).not.toContain('hunter2');
  });
});
