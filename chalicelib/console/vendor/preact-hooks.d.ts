export const useState: any, useRef: any, useMemo: any, useCallback: any, useEffect: any, useLayoutEffect: any, useErrorBoundary: any;
