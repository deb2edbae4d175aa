// SPDX-License-Identifier: Apache-2.0
/**
 * ControlPlane is a real API server for tests: etcd, kube-apiserver and optionally kube-controller-manager on loopback. The
 * API server can be stopped, killed and restarted at the same address with the same data. startControlPlane makes one.
 * Usage: `await cluster.killApiServer(); await cluster.startApiServer();`
 */
import { join } from "node:path";
import { createAuditTail, type AuditEvent, type AuditTail } from "./audit-log.ts";
import type { KeyPair } from "./certificates.ts";
import type { Client, ControlPlaneFiles } from "./control-plane-files.ts";
import {
  controlPlaneFiles,
  logFile,
  serverUrl,
  type Component,
  type ControlPlaneLayout,
} from "./control-plane-flags.ts";
import { eventually } from "../eventually.ts";
import { runKubectl, type KubectlOptions } from "./kubectl.ts";
import type { PodAccount } from "./pod-process.ts";
import type { TestingError } from "../testing-error.ts";

export interface ControlPlaneOptions {
  /** Directory of the binaries. Default: the result of ensureBinaries for these options. */
  readonly binaries?: string;
  /** Also run kube-controller-manager, for service accounts, garbage collection and DaemonSets. */
  readonly controllerManager?: boolean;
  /** Also run kube-scheduler and kube-controller-manager, for nodes that are API objects. */
  readonly scheduler?: boolean;
  /** Unix socket of an HTTP CONNECT proxy, through which the API server reaches kubelets and webhooks. A scheduler runs, too. */
  readonly nodeProxySocket?: string;
  /** Log every request for `auditEvents`. */
  readonly auditLog?: boolean;
  /** Directory for all files. It is kept, and a later start serves the same objects. Default: a temporary directory. */
  readonly dataDir?: string;
}

/** The processes of a control plane: own ones, or borrowed ones. */
export interface ControlPlaneServers extends AsyncDisposable {
  readonly layout: ControlPlaneLayout;
  /** Resolves when a process ends unexpectedly. */
  readonly failed: Promise<TestingError>;
  startApiServer(): Promise<void>;
  stopApiServer(): Promise<void>;
  killApiServer(): Promise<void>;
  compactEtcd(): Promise<void>;
  backUpEtcd(): Promise<() => Promise<void>>;
}

interface ControlPlaneParts {
  /** Directory of the programs. */
  readonly binaries: string;
  /** Directory for files of tests and kubeconfigs. */
  readonly dataDir: string;
  readonly servers: ControlPlaneServers;
  readonly files: ControlPlaneFiles;
  /** Called after the servers have ended. */
  readonly remove: () => Promise<void>;
}

/** A running control plane. Disposing of it ends it. */
export class ControlPlane implements AsyncDisposable {
  /** "https://127.0.0.1:<port>" */
  readonly server: string;
  /** Path of a kubeconfig for the cluster's administrator (system:masters). */
  readonly kubeconfig: string;
  /** The same administrator's certificate, for clients that read no kubeconfig, and the CA certificate of the server (PEM). */
  readonly admin: KeyPair & { readonly ca: string };
  /** Directory for files of tests. */
  readonly dataDir: string;
  /** Directory of the programs, such as kubectl. */
  readonly binaries: string;
  /** Resolves when a process ends unexpectedly. */
  readonly failed: Promise<TestingError>;
  readonly #parts: ControlPlaneParts;
  #clients = 0;

  /** Does not start any process; use startControlPlane. */
  constructor(parts: ControlPlaneParts) {
    this.#parts = parts;
    this.server = serverUrl(parts.servers.layout);
    this.admin = parts.files.admin;
    this.dataDir = parts.dataDir;
    this.binaries = parts.binaries;
    this.kubeconfig = join(parts.dataDir, controlPlaneFiles.admin);
    this.failed = parts.servers.failed;
  }

  /** Starts the API server again after stopApiServer or killApiServer, with the same address, objects and certificates. */
  async startApiServer(): Promise<void> {
    await this.#parts.servers.startApiServer();
  }

  /** Stops the API server by SIGTERM, as a rollout does: it finishes running requests and ends all watches. */
  async stopApiServer(): Promise<void> {
    await this.#parts.servers.stopApiServer();
  }

  /** Kills the API server; its connections break. */
  async killApiServer(): Promise<void> {
    await this.#parts.servers.killApiServer();
  }

  /**
   * Compacts etcd. The API server still has old versions in memory: to get 410 Gone for an old resourceVersion, restart it,
   * too.
   */
  async compactEtcd(): Promise<void> {
    await this.#parts.servers.compactEtcd();
  }

  /**
   * Copies the data of etcd, which is stopped meanwhile. Returns a function that puts the copy in place of the present data, as
   * an administrator restores a backup: API server and etcd are killed, and started again.
   */
  async backUpEtcd(): Promise<() => Promise<void>> {
    return this.#parts.servers.backUpEtcd();
  }

  /** Writes a kubeconfig for a user or a token and returns its path. */
  async clientFor(client: Client): Promise<string> {
    this.#clients += 1;
    return this.#parts.files.writeKubeconfig(`client-${this.#clients}`, client);
  }

  /** Creates a service account if needed and returns a new token of it with the data that its pods get. */
  async podAccount(namespace: string, serviceAccount: string): Promise<PodAccount> {
    const of = [serviceAccount, "-n", namespace];
    const object = await this.kubectl(["create", "serviceaccount", ...of, "--dry-run=client", "-o", "json"]);
    await this.kubectl(["apply", "-f", "-"], { input: object });
    const token = await this.kubectl(["create", "token", ...of, "--duration=24h"]);
    return { server: this.server, authority: this.#parts.files.admin.ca, token: token.trim(), namespace };
  }

  /** Runs kubectl as administrator, or with the kubeconfig of `options`, and returns its standard output. */
  async kubectl(args: readonly string[], options: Partial<KubectlOptions> = {}): Promise<string> {
    return runKubectl(join(this.binaries, "kubectl"), args, { kubeconfig: this.kubeconfig, ...options });
  }

  /** Creates or updates CRDs, those of a file or directory or these objects, and waits until their kinds are served. */
  async applyCrds(crds: string | readonly object[]): Promise<void> {
    const apply = ["apply", "--server-side", "--force-conflicts", "-f"];
    if (typeof crds === "string") await this.kubectl([...apply, crds]);
    else
      await this.kubectl([...apply, "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items: crds }) });
    await this.kindsServed();
  }

  /** Waits until the kinds of all CRDs are served. "kubectl wait" fails for a CRD that is so new that it has no conditions. */
  async kindsServed(): Promise<void> {
    const established = `{.status.conditions[?(@.type=="Established")].status}`;
    const output = `jsonpath={range .items[*]}{.metadata.name} ${established}{"\\n"}{end}`;
    const areServed = async (): Promise<boolean> => {
      const lines = (await this.kubectl(["get", "crd", "-o", output])).split("\n").filter((line) => line !== "");
      const missing = lines.filter((line) => !line.endsWith(" True"));
      if (missing.length > 0) throw new Error(`not established: ${missing.join(", ")}`);
      return true;
    };
    await eventually("the kinds of all CRDs are served", areServed, { withinMs: 60_000 });
  }

  /** Returns all finished requests, with the option `auditLog`. A request that has just finished may be missing. */
  async auditEvents(): Promise<readonly AuditEvent[]> {
    return createAuditTail(this.#auditLog).read();
  }

  /** Returns a reader of the requests of a user, with the option `auditLog`. */
  auditTail(username: string): AuditTail {
    return createAuditTail(this.#auditLog, username);
  }

  get #auditLog(): string {
    return join(this.#parts.servers.layout.dataDir, controlPlaneFiles.auditLog);
  }

  /** Returns the path of the log of a process, which has the output of all its starts. */
  logOf(component: Component): string {
    return logFile(this.#parts.servers.layout, component);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.servers[Symbol.asyncDispose]();
    await this.#parts.remove();
  }
}
