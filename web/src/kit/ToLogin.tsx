import { Navigate, useLocation } from 'react-router-dom';
import { signInAddress } from './leave.js';

/** To the login, and back to this address afterwards. */
export function ToLogin() {
  const { pathname, search, hash } = useLocation();
  return <Navigate to={signInAddress('/login', pathname + search + hash)} replace />;
}
