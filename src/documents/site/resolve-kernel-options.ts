import { isMapping } from '../../core/data/plain-value.ts';
import type { KernelParam } from '../schemas/baremetal-node.ts';
import type { HardwareProfileData } from '../schemas/machine-layout.ts';
import type { Named } from './inherit.ts';
import type { ReportLayout } from './owned-value.ts';

/** Characters that the kernel's loader accepts without quoting. */
const NAME = /^[\w./:-]+$/;
const VALUE = /^[\w.,:;/@%+=^!~[\](){}-]*(?: [\w./:-]+=[\w.,:;/@%+=^!~[\](){}-]+)*$/;

/**
 * Kernel options as one text, by Drydock's rules: `true` (YAML's) is an option without a value, and `hardwareprofile:cpuset.NAME`
 * and `hardwareprofile:hugepages.NAME.size` (or `.count`) are values of the hardware profile.
 * @returns `undefined` when there is none
 */
export function resolveKernelOptions(
  params: Named<KernelParam>,
  hardware: HardwareProfileData | undefined,
  report: ReportLayout,
  node: string,
): string | undefined {
  const options = [...params].flatMap(([name, owned]): string[] => {
    const wrong = (message: string, hint: string): [] => {
      report(owned, { code: 'node.bad-kernel-option', message, hint });
      return [];
    };
    if (!NAME.test(name)) return wrong(`'${name}' cannot be the name of a kernel option`, 'Correct it.');
    // As Python writes it: true is `True`, which is an option without a value.
    const given = typeof owned.value === 'boolean' ? (owned.value ? 'True' : 'False') : String(owned.value);
    const reference = /^hardwareprofile:(.*)$/.exec(given)?.[1];
    const value = reference === undefined ? given : valueIn(hardware, reference);
    if (value === undefined) {
      const hint = 'Name a hardware_profile with it: cpuset.NAME is in cpu_sets, hugepages.NAME.size in hugepages.';
      return wrong(`the hardware profile of the node has no ${reference}`, hint);
    }
    if (!VALUE.test(value)) {
      return wrong(
        `the kernel option ${name} cannot be '${value}'`,
        'MAAS takes values without quotes, and after a space only another option, such as console=tty0.',
      );
    }
    return [value === 'True' ? name : `${name}=${value}`];
  });
  const [pages, sizeOfPages] = ['hugepages', 'hugepagesz'].map((name) => params.get(name));
  const alone = pages ?? sizeOfPages;
  if (alone && (!pages || !sizeOfPages))
    report(alone, {
      code: 'node.bad-kernel-option',
      message: `the kernel options of '${node}' have ${pages ? 'hugepages without hugepagesz' : 'hugepagesz without hugepages'} (DD1008)`,
      hint: 'Give both: the number of pages and their size.',
    });
  // The kernel reads `hugepages` as pages of the size before it.
  const size = options.filter((option) => option.startsWith('hugepagesz='));
  const all = [...size, ...options.filter((option) => !size.includes(option))];
  return all.length === 0 ? undefined : all.join(' ');
}

function valueIn(hardware: HardwareProfileData | undefined, reference: string): string | undefined {
  const [kind = '', name = '', field = ''] = reference.split('.');
  const found =
    kind === 'cpuset' ? hardware?.cpu_sets?.[name] : kind === 'hugepages' ? hardware?.hugepages?.[name] : undefined;
  const value = isMapping(found) ? found[field] : found;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
