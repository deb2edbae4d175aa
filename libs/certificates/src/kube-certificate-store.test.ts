// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isRecord, KubeError, ObjectStore, type KubeObject, type TransportRequest } from "@switchyard/kube";
import { toBase64, toSecretData, type SecretData } from "./certificate-secret.ts";
import { secretType, type CertificateWatches } from "./certificate-watches.ts";
import { createCertificateStore } from "./kube-certificate-store.ts";

interface Secret extends KubeObject {
  readonly data?: SecretData;
}

const [namespace, name] = ["ns", "cert"];
const stored = (of: string) => ({ current: { ca: `${of} ca`, cert: `${of} cert`, key: `${of} key` } });
const foreign = { "tls.crt": toBase64("foreign"), "tls.key": toBase64("foreign") };

/** One Secret with the API server's rules for writes. The watch sees it as of the last deliver(). */
function createWorld() {
  let version = 0;
  let live: Secret | undefined;
  const secrets = new ObjectStore({
    type: secretType,
    namespace,
    project: ({ metadata: { uid = "", resourceVersion = "" }, data = {} }: Secret) => ({ uid, resourceVersion, data }),
  });
  secrets.beginList();
  secrets.endList("0");
  const watches: CertificateWatches = {
    places: { namespace, secretName: name, registrations: [] },
    secrets,
    registrations: [],
    synced: true,
    ageMs: 0,
    ages: [],
    whenSynced: () => Promise.resolve(),
    subscribe: () => () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };

  function put(data: SecretData): void {
    const metadata = {
      name,
      namespace,
      uid: live?.metadata.uid ?? `uid-${++version}`,
      resourceVersion: `${++version}`,
    };
    live = { apiVersion: "v1", kind: "Secret", metadata, data };
  }

  /** Throws unless the request has the current uid and resourceVersion. */
  function expectVersion(expected: unknown): void {
    if (live === undefined) throw new KubeError("write", "NotFound");
    const { uid, resourceVersion } = live.metadata;
    if (isRecord(expected) && expected.uid === uid && expected.resourceVersion === resourceVersion) return;
    throw new KubeError("write", "Conflict");
  }

  async function request({ method, body }: TransportRequest): Promise<unknown> {
    await Promise.resolve();
    if (!isRecord(body)) throw new TypeError("no body");
    if (method === "POST" && live !== undefined) throw new KubeError("write", "AlreadyExists");
    if (method === "PUT") expectVersion(body.metadata);
    if (method === "DELETE") {
      expectVersion(body.preconditions);
      live = undefined;
    } else if (isRecord(body.data)) {
      put(Object.fromEntries(Object.entries(body.data).map(([key, value]) => [key, String(value)])));
    }
    return {};
  }

  return {
    store: createCertificateStore({ transport: { request }, watches }),
    put,
    data: () => live?.data,
    remove: () => {
      live = undefined;
    },
    deliver: () => {
      if (live === undefined) secrets.remove({ name, namespace });
      else secrets.upsert(live);
    },
  };
}

const { signal } = new AbortController();

describe("createCertificateStore", () => {
  it("reads certificates as they were written", async () => {
    const { store, deliver } = createWorld();
    expect(store.read()).toBeUndefined();
    expect(await store.write(stored("first"))).toBe("written");
    deliver();
    expect(store.read()).toMatchObject(stored("first"));
    expect(await store.write(stored("second"))).toBe("written");
  });

  it("does not overwrite changes since the last read, whether or not the watch has seen them", async () => {
    const { store, put, data, deliver } = createWorld();
    for (const tells of [false, true]) {
      store.read();
      const others = toSecretData(stored(`others ${String(tells)}`));
      put(others);
      if (tells) deliver();
      expect(await store.write(stored("own"))).toBe("lost");
      expect(data()).toEqual(others);
      deliver();
    }
  });

  it("does not create a Secret again that was deleted since the last read", async () => {
    const { store, data, remove, deliver } = createWorld();
    await store.write(stored("first"));
    deliver();
    store.read();
    remove();
    expect(await store.write(stored("second"))).toBe("lost");
    expect(data()).toBeUndefined();
  });

  it("throws for a Secret of another program and does not delete it", async () => {
    const { store, put, data, deliver } = createWorld();
    put(foreign);
    deliver();
    expect(() => store.read()).toThrow(expect.objectContaining({ code: "ForeignSecret", secret: "ns/cert" }));
    await store.remove(signal);
    expect(data()).toEqual(foreign);
  });

  it("writes into an empty Secret", async () => {
    const { store, put, data, deliver } = createWorld();
    put({});
    deliver();
    expect(store.read()).toBeUndefined();
    await store.write(stored("first"));
    expect(data()).toEqual(toSecretData(stored("first")));
  });

  it("deletes the Secret only in the version that was seen", async () => {
    const { store, put, data, deliver } = createWorld();
    await store.write(stored("first"));
    deliver();
    put(foreign);
    await store.remove(signal);
    expect(data()).toEqual(foreign);
    put(toSecretData(stored("second")));
    deliver();
    await store.remove(signal);
    expect(data()).toBeUndefined();
    deliver();
    await store.remove(signal);
  });
});
