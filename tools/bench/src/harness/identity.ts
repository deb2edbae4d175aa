// SPDX-License-Identifier: Apache-2.0
/**
 * readIdentity reads the server and the client certificate from a kubeconfig of libs/testing, which is JSON with embedded
 * certificates.
 * Usage: `const identity = await readIdentity(cluster.kubeconfig)`
 */
import { readFile } from "node:fs/promises";
import { BenchError } from "./bench-error.ts";

export interface Identity {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** PEM texts. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Rejects with BenchError `platform` if the kubeconfig has another shape. */
export async function readIdentity(kubeconfig: string): Promise<Identity> {
  const config: unknown = JSON.parse(await readFile(kubeconfig, "utf8"));
  const text = (...path: readonly (string | number)[]): string => {
    let value: unknown = config;
    for (const step of path) value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
    if (typeof value === "string") return value;
    throw new BenchError("platform", `${kubeconfig} has no ${path.join(".")}`);
  };
  const pem = (...path: readonly (string | number)[]) => Buffer.from(text(...path), "base64").toString("utf8");
  return {
    server: text("clusters", 0, "cluster", "server"),
    ca: pem("clusters", 0, "cluster", "certificate-authority-data"),
    cert: pem("users", 0, "user", "client-certificate-data"),
    key: pem("users", 0, "user", "client-key-data"),
  };
}
