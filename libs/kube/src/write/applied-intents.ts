// SPDX-License-Identifier: Apache-2.0
/** AppliedIntents remembers the last intent that a writer sent for each object, as a digest. */
import { isBehind, type Observations, type ObservedObject } from "../cache/cache.ts";
import type { ObjectName } from "../kube-object.ts";

/** The last intent that was sent for an object. */
export interface AppliedIntent {
  readonly name: ObjectName;
  /** intentDigest of the intent. */
  readonly digest: string;
  /** Digest of the intent without the times of its conditions; undefined if nobody asks for it. */
  readonly timeless: string | undefined;
  /** resourceVersion that the write resulted in. */
  readonly resourceVersion: string;
  /** Digest of the manager's fields as the server stored them; undefined until the cache has this version. */
  readonly storedDigest: string | undefined;
}

export class AppliedIntents {
  readonly #cache: Observations | undefined;
  readonly #byKey = new Map<string, AppliedIntent>();
  #cleanUpAtSize = minCleanUpSize;
  #rewinds = 0;

  /** `cache` is the cache of the writer, if it has one. */
  constructor(cache: Observations | undefined) {
    this.#cache = cache;
  }

  get(key: string): AppliedIntent | undefined {
    this.#forgetIfRewound();
    return this.#byKey.get(key);
  }

  /** Stores the intent. Drops the intents of deleted objects each time that the number of intents has doubled. */
  set(key: string, intent: AppliedIntent): void {
    this.#forgetIfRewound();
    this.#byKey.set(key, intent);
    if (this.#cache === undefined || this.#byKey.size < this.#cleanUpAtSize) return;
    for (const [other, last] of this.#byKey) {
      if (this.#cache.observed(last.name) === undefined && !this.isPending(last)) this.#byKey.delete(other);
    }
    this.#cleanUpAtSize = Math.max(minCleanUpSize, 2 * this.#byKey.size);
  }

  /**
   * Remembers in which form the server has stored the last intent, once the cache has the version that the write resulted in.
   * `owned` is the digest of the manager's fields in `seen`.
   */
  see(key: string, seen: ObservedObject | undefined, owned: string | undefined): void {
    const last = this.get(key);
    if (last !== undefined && seen?.resourceVersion === last.resourceVersion) {
      this.#byKey.set(key, { ...last, storedDigest: owned });
    }
  }

  /** Drops all intents, because the server has lost writes. */
  forget(): void {
    this.#byKey.clear();
  }

  /** Reports whether the cache has not seen the write of this intent yet. */
  isPending({ resourceVersion }: AppliedIntent): boolean {
    return this.#cache?.position !== undefined && isBehind(this.#cache.position, resourceVersion);
  }

  #forgetIfRewound(): void {
    const { rewinds = 0 } = this.#cache ?? {};
    if (rewinds === this.#rewinds) return;
    this.#rewinds = rewinds;
    this.forget();
  }
}

const minCleanUpSize = 256;

/**
 * Reports whether the object has the intent with this digest. `owned` is the digest of the manager's fields in the object. The
 * server may have stored the last intent in another form; then `owned` must still be the digest of that form.
 */
export function hasIntent(
  digest: string,
  { owned, last }: { readonly owned?: string | undefined; readonly last?: AppliedIntent | undefined },
): boolean {
  return owned !== undefined && (owned === digest || (last?.digest === digest && owned === last.storedDigest));
}
