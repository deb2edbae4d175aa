// SPDX-License-Identifier: Apache-2.0
/** PlainApi makes requests to an API server by path, and fieldAt reads fields of the answers. */
import { expect } from "@jest/globals";
import { isKubeError, isRecord, type Transport } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";

/** Requests by path. Each rejects with KubeError, unless it says otherwise. */
export interface PlainApi {
  create(path: string, body: object, query?: { readonly fieldManager?: string }): Promise<void>;
  /** Merges `body` into the object, by default as the user of the API. */
  patch(path: string, body: object, by?: Transport): Promise<void>;
  remove(path: string): Promise<void>;
  /** The object; undefined if it does not exist. */
  read(path: string): Promise<unknown>;
}

/** `transport` is called for each request, so that it can be set in a beforeAll. */
export function createPlainApi(transport: () => Transport): PlainApi {
  return {
    async create(path, body, query = {}) {
      await transport().request({ method: "POST", path, body, query });
    },
    async patch(path, body, by = transport()) {
      await by.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
    },
    async remove(path) {
      await transport().request({ method: "DELETE", path });
    },
    read: (path) => readIfThere(transport(), path),
  };
}

/** The value below these fields and indexes; undefined if there is none. */
export function fieldAt(object: unknown, ...fields: readonly (string | number)[]): unknown {
  return fields.reduce<unknown>((value, field) => {
    if (Array.isArray(value)) return typeof field === "number" ? (value[field] as unknown) : undefined;
    return isRecord(value) && typeof field === "string" ? value[field] : undefined;
  }, object);
}

/**
 * readIfThere reads an object of the API server.
 * Returns undefined if the object does not exist. Rejects with KubeError.
 */
export async function readIfThere(transport: Transport, path: string): Promise<unknown> {
  try {
    return await transport.request({ method: "GET", path });
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}

/**
 * eventuallyMatches waits until what is read matches, as toMatchObject() compares.
 * The error shows how what was read last differs.
 */
export async function eventuallyMatches(
  what: string,
  read: () => Promise<unknown>,
  expected: object,
  withinMs = 60_000,
): Promise<void> {
  let last: unknown;
  const matches = async (): Promise<boolean> => {
    last = await read();
    try {
      expect(last).toMatchObject(expected);
      return true;
    } catch {
      return false;
    }
  };
  await eventually(what, matches, { withinMs }).catch(() => {
    expect(last).toMatchObject(expected);
  });
}
