import { z } from 'zod';

// Without flags: the published JSON Schema can carry the pattern only.
const MAC_ADDRESS = /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}$/;

/** What nodes and host profiles share: everything a node may inherit. Other keys are Drydock's own. */
const inheritable = {
  host_profile: z
    .string()
    .min(1)
    .describe('Host profile whose tags, labels, rack and platform are inherited.')
    .optional(),
  metadata: z
    .looseObject({
      tags: z.array(z.string()).describe('Tags, for selectors. "!name" takes an inherited tag away.').optional(),
      owner_data: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .describe('Labels, for selectors. A key "!name" takes an inherited label away.')
        .optional(),
      rack: z.string().min(1).describe('Rack the machine stands in.').optional(),
      boot_mac: z
        .string()
        .regex(MAC_ADDRESS, 'must be a MAC address such as 52:54:00:00:a3:31')
        .describe('MAC address of the interface the machine boots from.')
        .optional(),
    })
    .optional(),
  platform: z
    .looseObject({
      image: z.string().min(1).describe('Ubuntu series to deploy, as MAAS names it: jammy.').optional(),
      kernel: z.string().min(1).describe('Kernel to deploy, as MAAS names it: hwe-22.04.').optional(),
      kernel_params: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
};

/** `data` of drydock/HostProfile/v1, as far as nodes inherit from it. */
export const hostProfileSchema = z.looseObject(inheritable);

/** `data` of drydock/BaremetalNode/v1, as far as this program uses it. */
export const baremetalNodeSchema = z.looseObject({
  ...inheritable,
  addressing: z
    .array(z.looseObject({ network: z.string().min(1), address: z.string().min(1).optional() }))
    .describe('Address of the node in each network, or "dhcp".')
    .optional(),
});

export type HostProfileData = z.infer<typeof hostProfileSchema>;
export type BaremetalNodeData = z.infer<typeof baremetalNodeSchema>;
