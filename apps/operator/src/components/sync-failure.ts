// SPDX-License-Identifier: Apache-2.0
/** SyncFailure is an object that could not be applied or deleted, and why. */
export interface SyncFailure {
  readonly kind: string;
  readonly name: string;
  readonly error: unknown;
}
