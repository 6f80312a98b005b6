export const h: any, render: any, Fragment: any, Component: any, createRef: any;
