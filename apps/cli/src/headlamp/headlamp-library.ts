// SPDX-License-Identifier: Apache-2.0
/**
 * HeadlampLibrary is what the plugin uses of the library that Headlamp gives to plugins as the global `pluginLib`. A type of
 * our own, because the package of that library brings 600 MB.
 */

/** A React element. Only Headlamp looks into it. */
export type Element = object;
export type Node = Element | string | null | readonly Node[];
export type Component = () => Node;

export interface React {
  readonly createElement: (
    type: unknown,
    properties: Readonly<Record<string, unknown>> | null,
    ...children: readonly Node[]
  ) => Element;
  useState<T>(initial: T): readonly [T, (next: T) => void];
  useEffect(effect: () => (() => void) | undefined, dependencies: readonly unknown[]): void;
}

export interface HeadlampLibrary {
  readonly React: React;
  readonly ApiProxy: {
    /** Resolves with JSON. Rejects with an error that has the HTTP status in `status`. */
    readonly clusterRequest: (path: string, options: { readonly cluster: string }) => Promise<unknown>;
  };
  readonly K8s: {
    /** A hook: the name of the cluster that is shown. */
    useCluster(): string | null;
  };
  readonly CommonComponents: { readonly SectionBox: unknown; readonly Loader: unknown };
  readonly MuiMaterial: {
    readonly Alert: unknown;
    readonly Button: unknown;
    readonly Tab: unknown;
    readonly Tabs: unknown;
  };
  registerRoute(route: {
    readonly path: string;
    readonly name: string;
    readonly sidebar: string;
    readonly exact: boolean;
    readonly component: Component;
  }): void;
  registerSidebarEntry(entry: {
    readonly parent: string | null;
    readonly name: string;
    readonly label: string;
    readonly url: string;
    readonly icon: string;
  }): void;
}
