// SPDX-License-Identifier: Apache-2.0
/**
 * OvsLiveness finds out whether ovs-vswitchd runs. The database does not tell: its rows say the same when the process is gone. It asks
 * ovs-vswitchd to apply an unchanged configuration, as ovs-vsctl does, and waits for the answer.
 */
import { isOvsdbError, type OvsdbClient } from "@switchyard/ovsdb";
import { configure, openVswitch } from "@switchyard/ovsdb/vswitch";

export interface OvsLivenessOptions {
  /** It monitors the table Open_vSwitch. */
  readonly client: OvsdbClient;
  /** Reports whether there is anything to ask for: the databases of others are left alone. */
  readonly isNeeded: () => boolean;
  /** Time between two questions. */
  readonly intervalMs: number;
  /** Time within which ovs-vswitchd must answer. */
  readonly answerMs: number;
  /** Called when the answer has become another one. */
  readonly onChange: () => void;
}

/** Disposing it ends the questions. */
export class OvsLiveness implements AsyncDisposable {
  readonly #options: OvsLivenessOptions;
  readonly #unsubscribe: () => void;
  readonly #end = new AbortController();
  #error: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;

  constructor(options: OvsLivenessOptions) {
    this.#options = options;
    this.#unsubscribe = options.client.cache.subscribe(() => {
      if (this.#error !== undefined && this.#hasApplied()) this.#report(undefined);
    });
  }

  /** Why ovs-vswitchd forwards no packets; undefined if it runs, or was not asked yet. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Asks once if nobody has asked yet, and then again and again. */
  async start(): Promise<void> {
    if (this.#timer !== undefined || this.#end.signal.aborted || !this.#options.isNeeded()) return;
    await this.#ask();
    this.#schedule();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    this.#unsubscribe();
    await this.#asking;
  }

  #schedule(): void {
    if (this.#end.signal.aborted) return;
    clearTimeout(this.#timer);
    const again = (): void => {
      this.#schedule();
    };
    this.#timer = setTimeout(() => {
      void this.#ask().then(again, again); // the next read asks again, and rejects
    }, this.#options.intervalMs);
    this.#timer.unref();
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<void> {
    const { client, answerMs, isNeeded } = this.#options;
    if (!isNeeded()) {
      this.#report(undefined);
      return;
    }
    // The question that is not answered yet stays the question.
    if (this.#error !== undefined && !this.#hasApplied()) return;
    try {
      await configure(client, [], AbortSignal.any([this.#end.signal, AbortSignal.timeout(answerMs)]));
      this.#report(undefined);
    } catch (error) {
      if (!isOvsdbError(error)) throw error;
      // A database that does not answer is reported by whoever reads it.
      const isUnanswered = error.code === "aborted" && client.state.isConnected && !this.#hasApplied();
      if (isUnanswered && !this.#end.signal.aborted) {
        this.#report(`ovs-vswitchd does not run: it has not applied the configuration for ${answerMs / 1000} s`);
      }
    }
  }

  #hasApplied(): boolean {
    const [root] = this.#options.client.cache.rows(openVswitch).values();
    return root === undefined || root.cur_cfg >= root.next_cfg;
  }

  #report(error: string | undefined): void {
    if (error === this.#error) return;
    this.#error = error;
    this.#options.onChange();
  }
}
