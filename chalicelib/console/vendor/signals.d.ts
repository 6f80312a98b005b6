export const signal: any, computed: any, effect: any, batch: any, untracked: any, useSignal: any, useComputed: any, useSignalEffect: any;
