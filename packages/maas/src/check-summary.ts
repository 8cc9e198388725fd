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
  /** What limits a MAAS that works. */
  readonly warning?: string;
  /** Of what keeps sites from being deployed, else of the warning. */
  readonly fix?: string;
}

/** A check of MAAS in one line: all that keeps sites from being deployed, or which MAAS it is. */
export function summaryOfMaasCheck({ ok, version, user, findings }: CheckedMaas): MaasSummary {
  const wrong = findings.filter((finding) => !finding.ok && finding.severity === (ok ? 'warning' : 'error'));
  const messages = wrong.map(({ message }) => message).join('; ');
  const fixes = wrong.flatMap(({ fix }) => fix ?? []);
  return {
    ok,
    message: ok ? `MAAS ${version?.version ?? ''} as ${user?.username ?? ''}` : messages,
    ...(ok && messages !== '' ? { warning: messages } : {}),
    ...(fixes.length === 0 ? {} : { fix: fixes.join('; ') }),
  };
}
