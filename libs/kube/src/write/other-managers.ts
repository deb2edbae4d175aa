// SPDX-License-Identifier: Apache-2.0
/**
 * OtherManagers notices who else sets the fields that a writer applies: another field manager that undoes each write, such as a
 * GitOps controller, and admission that stores something else than was sent. Both would otherwise go on without a word.
 */
import type { Clock } from "../clock.ts";
import type { KubeObject } from "../kube-object.ts";
import { differingField, replacedFields, type Tree } from "./differing-fields.ts";

/** What others do to the fields of an object. The message does not change while it goes on. */
export interface Interference {
  /** "contested": another manager undoes each write. "replaced": admission stores something else than was applied. */
  readonly kind: "contested" | "replaced";
  /** One sentence with the field and the manager, and what to do. */
  readonly message: string;
}

/** Reverts within `startMs` that make a contest, which ends when none has followed for `endMs`. */
const contest = { reverts: 3, startMs: 5 * 60_000, endMs: 15 * 60_000 };

/**
 * First and longest time between two writes of a contested pod template or status. Each write of a template restarts pods, and two
 * managers that answer each other's status would write without end.
 */
const hold = { firstMs: 60_000, longestMs: 10 * 60_000 };

/** Time after which an object with replaced fields is applied again: the webhook that replaced them may be gone. */
const retryMs = 10 * 60_000;

interface Entry {
  /** Times of the writes that restored the object after somebody had changed it. */
  revertsMs: readonly number[];
  /** Number of reverts of the present contest. */
  readonly count: number;
  readonly message: string | undefined;
  readonly replaced: readonly string[];
  readonly appliedMs: number;
}

export class OtherManagers {
  readonly #clock: Clock;
  readonly #manager: string;
  readonly #byKey = new Map<string, Entry>();

  constructor(clock: Clock, manager: string) {
    this.#clock = clock;
    this.#manager = manager;
  }

  /** Reports whether the next write of an object that somebody has changed must wait: of a contested pod template or status. */
  mustHold(key: string, intent: Tree): boolean {
    const entry = this.#byKey.get(key);
    if (entry === undefined || !this.#isContested(entry) || restOf(intent) === undefined) return false;
    const holdMs = Math.min(hold.firstMs * 2 ** (entry.count - contest.reverts), hold.longestMs);
    return this.#clock.nowMs() - (entry.revertsMs.at(-1) ?? 0) < holdMs;
  }

  /** Reports whether the object must be read before the next write, to find out who has changed it. */
  mustAsk(key: string): boolean {
    const entry = this.#byKey.get(key);
    if (entry === undefined || this.#recent(entry).length + 1 < contest.reverts) return false;
    return entry.message === undefined || !this.#isContested(entry);
  }

  /** A write has restored what somebody changed. `before` is the object as it was then, if it was read. */
  restored(key: string, intent: Tree, before: KubeObject | undefined): void {
    const nowMs = this.#clock.nowMs();
    const entry = this.#byKey.get(key) ?? newEntry(nowMs);
    const isGoingOn = this.#isContested(entry);
    const revertsMs = [...this.#recent(entry), nowMs];
    const found = before && differingField(before, intent, this.#manager);
    const message =
      found === undefined ? (isGoingOn ? entry.message : undefined) : describeContest(found, restOf(intent));
    const count = isGoingOn ? entry.count + 1 : revertsMs.length;
    this.#byKey.set(key, { ...entry, revertsMs, count, message });
  }

  /** The server has answered a write with the whole object. */
  applied(key: string, intent: Tree, stored: KubeObject): void {
    const replaced = replacedFields(stored, intent, this.#manager);
    const entry = this.#byKey.get(key);
    if (replaced.length === 0 && entry === undefined) return;
    const appliedMs = this.#clock.nowMs();
    this.#byKey.set(key, { ...(entry ?? newEntry(appliedMs)), replaced, appliedMs });
  }

  /** Reports whether the object must be applied again although it is as the server has stored it last. */
  mustRetry(key: string): boolean {
    const entry = this.#byKey.get(key);
    return entry !== undefined && entry.replaced.length > 0 && this.#clock.nowMs() - entry.appliedMs >= retryMs;
  }

  /** Forgets an object that is deleted. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /** Returns what others do to the object now; undefined if nothing is known. */
  interference(key: string): Interference | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    if (this.#isContested(entry) && entry.message !== undefined) return { kind: "contested", message: entry.message };
    return entry.replaced.length === 0 ? undefined : { kind: "replaced", message: describeReplaced(entry.replaced) };
  }

  /** The reverts that count towards a contest. */
  #recent({ revertsMs }: Entry): readonly number[] {
    const sinceMs = this.#clock.nowMs() - contest.startMs;
    return revertsMs.filter((atMs) => atMs >= sinceMs);
  }

  #isContested(entry: Entry): boolean {
    const lastMs = entry.revertsMs.at(-1);
    return entry.count >= contest.reverts && lastMs !== undefined && this.#clock.nowMs() - lastMs < contest.endMs;
  }
}

function newEntry(nowMs: number): Entry {
  return { revertsMs: [], count: 0, message: undefined, replaced: [], appliedMs: nowMs };
}

/** Returns why a contested intent is restored only now and then; undefined if it is restored each time. */
function restOf({ spec, status }: Tree): string | undefined {
  if (status !== undefined) return "because two programs that answer each other write without end";
  const hasPodTemplate = typeof spec === "object" && spec !== null && "template" in spec;
  return hasPodTemplate ? "because each change restarts pods" : undefined;
}

function describeContest(
  { manager, field }: { readonly manager: string; readonly field: string },
  rest: string | undefined,
): string {
  const restored = rest === undefined ? "it is restored each time" : `it is restored at most once a minute, ${rest}`;
  return `field manager "${manager}" changes ${field} again and again, and ${restored}; let "${manager}" ignore the field`;
}

function describeReplaced(fields: readonly string[]): string {
  const more = fields.length - shownFields;
  const rest = more <= 0 ? "" : more === 1 ? " and 1 more field" : ` and ${more} more fields`;
  return `admission replaced ${fields.slice(0, shownFields).join(", ")}${rest}; exclude the object from the webhook that does it`;
}

const shownFields = 3;
