import { loadSite, type SourceFile } from '../../../src/documents/index.ts';

/** Documents for tests: a case only writes the part it is about. */
export const CONFIGURATION = configuration('{armada: {manifest: full-site}}');

export function configuration(data: string, name = 'deployment-configuration'): string {
  return document('shipyard/DeploymentConfiguration/v1', name, data);
}

export const strategy = (groups: string, name = 'deployment-strategy'): string =>
  document('shipyard/DeploymentStrategy/v1', name, `\n  groups:\n${groups.replace(/^(?=.)/gm, '    ')}`);

export const node = (name: string, data = '{}'): string => document('drydock/BaremetalNode/v1', name, data);

export const profile = (name: string, data = '{}'): string => document('drydock/HostProfile/v1', name, data);

export function document(schema: string, name: string, data: string): string {
  return `---\nschema: ${schema}\nmetadata:\n  name: ${name}\ndata: ${data}\n`;
}

/** A site of these texts, as files 1.yaml, 2.yaml, … */
export const files = (...texts: string[]): SourceFile[] =>
  texts.map((text, index) => ({ name: `${index + 1}.yaml`, text }));

/** The findings, as `severity code file:line:column text`. */
export function findings(...texts: string[]): string[] {
  return loadSite(files(...texts)).diagnostics.map(
    ({ severity, code, file, line, column, text }) =>
      `${severity} ${code} ${file}:${line}:${column}${text === undefined ? '' : ` ${text}`}`,
  );
}

/** A hardware profile with cards and a disk by their addresses. */
export const BOX = document(
  'drydock/HardwareProfile/v1',
  'box',
  `{device_aliases: {
    pxe0: {address: '0000:3d:00.0', bus_type: pci}, left: {address: '0000:81:00.1', bus_type: pci},
    right: {address: '0000:81:00.0', bus_type: pci}, boot: {address: '2:2.0.0', bus_type: scsi}}}`,
);
