/** Findings of a check of MAAS, for its summary. */
interface CheckedMaas {
  readonly ok: boolean;
  readonly version?: { readonly version: string } | undefined;
  readonly user?: { readonly username: string } | undefined;
  readonly findings: readonly {
    readonly ok: boolean;
    readonly severity: 'error' | 'warning';
    readonly message: string;
    readonly fix?: string | undefined;
  }[];
}

interface MaasSummary {
  readonly ok: boolean;
  readonly message: string;
  readonly fix?: string;
}

/** A check of MAAS in one line: all that keeps sites from being deployed, or which MAAS it is. */
export function summaryOfMaasCheck({ ok, version, user, findings }: CheckedMaas): MaasSummary {
  if (ok) return { ok, message: `MAAS ${version?.version ?? ''} as ${user?.username ?? ''}` };
  const wrong = findings.filter((finding) => !finding.ok && finding.severity === 'error');
  const fixes = wrong.flatMap(({ fix }) => fix ?? []);
  return {
    ok,
    message: wrong.map(({ message }) => message).join('; '),
    ...(fixes.length === 0 ? {} : { fix: fixes.join('; ') }),
  };
}
