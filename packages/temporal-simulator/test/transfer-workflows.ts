import { ActivityFailure, proxyActivities } from '@temporalio/workflow';

interface Bank {
  withdraw(amount: number): Promise<void>;
  deposit(account: string, amount: number): Promise<void>;
}

const patient = proxyActivities<Bank>({ startToCloseTimeout: '1 minute' });
const impatient = proxyActivities<Bank>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 3 } });

/** Pays back what the other bank refuses. */
export const transfer = (amount: number): Promise<string> => transferBy(patient, amount);

/** Also pays back what may have arrived: the last of its attempts may have lost only its answer. */
export const impatientTransfer = (amount: number): Promise<string> => transferBy(impatient, amount);

async function transferBy({ deposit }: Pick<Bank, 'deposit'>, amount: number): Promise<string> {
  await patient.withdraw(amount);
  try {
    await deposit('other', amount);
    return 'transferred';
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    await patient.deposit('own', amount);
    return 'paid back';
  }
}
