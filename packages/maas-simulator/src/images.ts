import type { Form } from './form.ts';
import type { Image, Machine } from './records.ts';
import type { Region } from './region.ts';

/** The system that a deployment installs. */
interface Choice {
  readonly osystem: string;
  readonly series: string;
  readonly kernel: string | null;
}

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

function findImage(region: Region, wanted: string): Readonly<Image> | undefined {
  const bare = wanted.replace(/^ubuntu\//, '');
  for (const image of region.images.values()) {
    if (image.name === wanted || image.name === `ubuntu/${wanted}`) return image;
    if (image.version !== '' && image.version === bare) return image;
  }
  return undefined;
}

/** The image and kernel of a deployment request, or MAAS' form errors. */
export function chooseImage(
  region: Region,
  machine: Readonly<Machine>,
  form: Form,
): { readonly choice: Choice } | { readonly errors: Readonly<Record<string, readonly string[]>> } {
  const wanted = form.text('distro_series') ?? defaultImage(region);
  const image = findImage(region, wanted);
  const [arch] = machine.architecture.split('/');
  if (!image || image.architecture !== arch) {
    const known = ['', ...[...region.images.values()].map(({ name }) => name)];
    const message = `'${wanted}' is not a valid distro_series.  It should be one of: ${quoted(known)}.`;
    return { errors: { distro_series: [message] } };
  }
  const kernel = form.text('hwe_kernel') ?? image.kernels[0] ?? null;
  if (kernel !== null && !image.kernels.includes(kernel)) {
    const message = `${kernel} is not available for ${image.name} on ${machine.architecture}.`;
    return { errors: { hwe_kernel: [message] } };
  }
  const [osystem = '', ...series] = image.name.split('/');
  return { choice: { osystem, series: series.join('/'), kernel } };
}

function defaultImage(region: Region): string {
  const system = String(region.settings.get('default_osystem')?.value ?? 'ubuntu');
  const series = String(region.settings.get('default_distro_series')?.value ?? 'noble');
  return `${system}/${series}`;
}
