import { z } from 'zod';
import { layoutKeys } from './machine-layout.ts';

// Without flags: the published JSON Schema can carry the pattern only.
const MAC_ADDRESS = /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}$/;

const kernelParam = z
  .union([z.string(), z.number(), z.boolean()])
  .describe('Value; true for an option without one. hardwareprofile:… takes it from the hardware profile.');

export type KernelParam = z.infer<typeof kernelParam>;

/** The keys of nodes and host profiles: all that a node may inherit. */
const inheritable = {
  host_profile: z
    .string()
    .min(1)
    .describe('Host profile whose tags, labels, rack and platform are inherited.')
    .optional(),
  metadata: z
    .strictObject({
      tags: z.array(z.string()).describe('Tags, for selectors. "!name" removes an inherited tag.').optional(),
      owner_data: z
        .record(z.string(), z.string())
        .describe('Labels, for selectors. A key "!name" removes an inherited label.')
        .optional(),
      rack: z.string().min(1).describe('Rack of the machine.').optional(),
      boot_mac: z
        .string()
        .regex(MAC_ADDRESS, 'must be a MAC address such as 52:54:00:00:a3:31')
        .describe('MAC address of the boot interface.')
        .optional(),
    })
    .optional(),
  platform: z
    .strictObject({
      image: z.string().min(1).describe('Ubuntu series to deploy, by its MAAS name: jammy.').optional(),
      kernel: z.string().min(1).describe('Kernel to deploy, by its MAAS name: hwe-22.04.').optional(),
      kernel_params: z
        .record(z.string(), kernelParam)
        .describe('Kernel options, set in MAAS before the deployment. "!name" removes an inherited one.')
        .optional(),
    })
    .optional(),
  ...layoutKeys,
  /** For Drydock: MAAS has the BMCs already. Known, so that a misspelled key can be distinguished from it. */
  oob: z.record(z.string(), z.unknown()).optional(),
};

/** `data` of drydock/HostProfile/v1: all of it may be inherited. */
export const hostProfileSchema = z.strictObject(inheritable);

/** `data` of drydock/BaremetalNode/v1: the parts this program uses. */
export const baremetalNodeSchema = z.strictObject({
  ...inheritable,
  addressing: z
    .array(z.looseObject({ network: z.string().min(1), address: z.string().min(1).optional() }))
    .describe('Address of the node in each network, or "dhcp".')
    .optional(),
});

export type HostProfileData = z.infer<typeof hostProfileSchema>;
export type BaremetalNodeData = z.infer<typeof baremetalNodeSchema>;
